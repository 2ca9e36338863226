# Doubletake in a container: docker build -t doubletake . && docker run --rm doubletake --help
# The lake is a volume; nothing else is written. Java comes with the Python packages.
FROM python:3.12-slim-bookworm

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DOUBLETAKE_LAKE=/lake

WORKDIR /opt/doubletake

COPY requirements.txt pyproject.toml hatch_build.py README.md LICENSE ./
RUN pip install --no-cache-dir --requirement requirements.txt

COPY .streamlit ./.streamlit
COPY app.py ./
COPY cli ./cli
COPY doubletake ./doubletake
COPY forensics ./forensics
COPY ingest ./ingest
COPY spark_jobs ./spark_jobs
COPY pages ./pages
COPY lab ./lab
RUN pip install --no-cache-dir --no-deps . \
    && useradd --create-home --uid 10001 doubletake \
    && install --directory --owner=doubletake --group=doubletake /lake

USER 10001
VOLUME /lake
ENTRYPOINT ["doubletake"]
CMD ["--help"]
