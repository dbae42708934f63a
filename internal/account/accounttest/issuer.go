package accounttest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"comanda/internal/testenv"
)

// Client of the Issuer.
const (
	IssuerClientID     = "comanda.apps.example"
	IssuerClientSecret = "a planted client secret"
)

// Issuer is an OpenID Connect issuer in this process, in place of Google. It checks what Google checks: the client, the
// redirect URI, PKCE, and that a code is used once.
type Issuer struct {
	URL string

	t      testing.TB
	server *httptest.Server
	key    *rsa.PrivateKey
	now    func() time.Time

	mu     sync.Mutex
	grants map[string]grant // by code
	change func(jwt.MapClaims)
}

// grant is an authorization that a person has given.
type grant struct {
	challenge, redirect string
	claims              jwt.MapClaims
}

// NewIssuer starts an issuer, which ends with the test.
func NewIssuer(t testing.TB, now func() time.Time) *Issuer {
	t.Helper()
	i := &Issuer{t: t, key: testenv.Must(rsa.GenerateKey(rand.Reader, 2048))(t), now: now, grants: map[string]grant{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"jwks_uri": i.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		encode := base64.RawURLEncoding.EncodeToString
		write(w, map[string]any{"keys": []map[string]string{{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": encode(i.key.N.Bytes()),
			"e": encode(big.NewInt(int64(i.key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("POST /token", i.token)
	i.server = httptest.NewServer(mux)
	i.URL = i.server.URL
	t.Cleanup(i.Close)
	return i
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// Close makes the issuer unreachable.
func (i *Issuer) Close() { i.server.Close() }

// Change changes the claims of the next ID tokens; nil ends it.
func (i *Issuer) Change(f func(claims map[string]any)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.change = nil; f != nil {
		i.change = func(c jwt.MapClaims) { f(c) }
	}
}

// Agree is the person at the page of an address: it returns the code and the state with which the issuer returns.
func (i *Issuer) Agree(address string, person map[string]any) (code, state string) {
	i.t.Helper()
	q := testenv.Must(url.Parse(address))(i.t).Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": IssuerClientID, "code_challenge_method": "S256", "scope": "openid email profile",
	} {
		if q.Get(name) != want {
			i.t.Errorf("the address has %s=%q, want %q", name, q.Get(name), want)
		}
	}
	claims := jwt.MapClaims{"iss": i.URL, "aud": IssuerClientID, "nonce": q.Get("nonce")}
	maps.Copy(claims, person)
	code = rand.Text()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.grants[code] = grant{q.Get("code_challenge"), q.Get("redirect_uri"), claims}
	return code, q.Get("state")
}

// token exchanges a code for an ID token.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id, secret, ok := r.BasicAuth()
	if !ok {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	} else if plain, err := url.QueryUnescape(secret); err == nil {
		secret = plain
	}
	g, found := i.grants[r.PostFormValue("code")]
	delete(i.grants, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if id != IssuerClientID || secret != IssuerClientSecret || !found || r.PostFormValue("redirect_uri") != g.redirect ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge {
		w.WriteHeader(http.StatusBadRequest)
		write(w, map[string]string{"error": "invalid_grant"})
		return
	}
	g.claims["iat"], g.claims["exp"] = i.now().Unix(), i.now().Add(time.Hour).Unix()
	if i.change != nil {
		i.change(g.claims)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, g.claims)
	token.Header["kid"] = "1"
	signed, err := token.SignedString(i.key)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	write(w, map[string]any{"access_token": "x", "token_type": "Bearer", "expires_in": 3600, "id_token": signed})
}
