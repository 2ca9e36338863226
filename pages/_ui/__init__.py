"""What the pages share. Streamlit takes only files directly in ``pages/`` for pages."""
