"""A small OpenID Connect provider on loopback: discovery, authorize, token, keys, end of session."""

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "workprof", "the client's secret, known to both"


@dataclass
class Provider:
    url: str = ""
    person: dict = field(default_factory=dict)
    iat_age_s: float = 0.0
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "k1"}, private=True))
    codes: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def is_now(self, **claims):
        self.person = claims

    def metadata(self):
        ends = {
            "authorization_endpoint": "authorize",
            "token_endpoint": "token",
            "jwks_uri": "jwks",
            "end_session_endpoint": "end",
        }
        return {name: f"{self.url}/{path}" for name, path in ends.items()} | {
            "issuer": self.url,
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }

    def code_for(self, query):
        code = secrets.token_urlsafe(16)
        self.codes[code] = query | {"person": dict(self.person)}
        return code

    def token_for(self, form, credentials):
        asked = self.codes.pop(form.get("code", ""), None)
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
        if asked is None or credentials != f"{CLIENT}:{SECRET}" or challenge != asked.get("code_challenge"):
            return None
        now = int(time.time() - self.iat_age_s)
        claims = asked["person"] | {"iss": self.url, "aud": CLIENT, "nonce": asked["nonce"], "iat": now}
        claims |= {"exp": int(time.time()) + 3600, "sub": asked["person"]["email"]}
        signed = jwt.encode({"alg": "RS256", "kid": "k1"}, claims, self.key)
        return {"access_token": "not used", "token_type": "Bearer", "expires_in": 3600, "id_token": signed}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, *_):
        pass

    def do_GET(self):
        provider = self.server.provider
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        provider.asked.append(parts.path)
        if parts.path == "/.well-known/openid-configuration":
            self.answer(provider.metadata())
        elif parts.path == "/jwks":
            self.answer({"keys": [provider.key.as_dict(private=False)]})
        elif parts.path == "/authorize":
            back = {"code": provider.code_for(query), "state": query["state"]}
            self.send_to(f"{query['redirect_uri']}?{urllib.parse.urlencode(back)}")
        elif parts.path == "/end":
            self.send_to(query["post_logout_redirect_uri"])
        else:
            self.answer({"error": "not found"}, 404)

    def do_POST(self):
        length = min(int(self.headers.get("Content-Length", 0)), 10_000)
        form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode()))
        scheme, _, encoded = self.headers.get("Authorization", "").partition(" ")
        credentials = base64.b64decode(encoded).decode() if scheme == "Basic" else ""
        credentials = ":".join(urllib.parse.unquote_plus(part) for part in credentials.split(":", 1))
        self.server.provider.asked.append(self.path)
        token = self.server.provider.token_for(form, credentials)
        self.answer(token or {"error": "invalid_grant"}, 200 if token else 400)

    def answer(self, document, status=200):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_to(self, address):
        self.send_response(302)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextlib.contextmanager
def running_provider():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.provider = Provider(url=f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
