# pairvdn on a CPU: docker build -t pairvdn . && docker run --rm -v "$PWD/runs:/data/runs" pairvdn train aloha/pairvdn
FROM python:3.12-slim
COPY pyproject.toml constraints.txt README.md LICENSE /source/
COPY src /source/src
RUN pip install --no-cache-dir --constraint /source/constraints.txt '/source[view]'
WORKDIR /data
ENTRYPOINT ["pairvdn"]
CMD ["--help"]
