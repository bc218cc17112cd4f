# docker build -t crib-env . && docker run --rm crib-env crib evaluate greedy rule_based --pairs 100
FROM python:3.11-slim
WORKDIR /crib-env
COPY . .
RUN pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu
RUN pip install -c constraints.txt ".[train]"
# Machine code in the image serves every user of it.
RUN crib warmup
WORKDIR /root
CMD ["crib", "--help"]
