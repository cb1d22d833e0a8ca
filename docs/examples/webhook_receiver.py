"""A webhook receiver in Python, with the standard library only.

WEBHOOK_SECRET=whsec_... python3 webhook_receiver.py
"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"), validate=True)
if not KEY:
    raise SystemExit("set WEBHOOK_SECRET to the whsec_... secret of the endpoint")
TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 1_048_576
# In production: a table with a unique column, written in the same transaction as your change.
taken = set()


def is_genuine(headers, body: bytes) -> bool:
    """Whether the body is genuine, unchanged and recent."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or len(timestamp) > 12:
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(KEY, signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # There are several while a secret is being replaced.
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, one.encode()) for one in signatures)


def handle(event: dict) -> None:
    """Accepts the event and returns at once. Put long work into your own queue."""
    if event["event"] == "esim.purchased":
        print(event["data"]["transactionId"], "is", event["data"]["status"], flush=True)
    else:
        print(event["event"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        # The signature covers the raw bytes: verify before parsing.
        body = self.rfile.read(min(length, MAX_BODY_BYTES))
        if not is_genuine(self.headers, body):
            return self.answer(401)
        message_id = self.headers["webhook-id"]
        if message_id not in taken:
            handle(json.loads(body))
        taken.add(message_id)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 4000))), Receiver)
    print("listening", flush=True)
    server.serve_forever()
