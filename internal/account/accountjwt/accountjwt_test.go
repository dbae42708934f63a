package accountjwt_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accountjwt"
	"comanda/internal/testenv"

	"github.com/golang-jwt/jwt/v5"
)

var (
	noon = time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	key  = []byte(strings.Repeat("k", 32))
	old  = []byte(strings.Repeat("o", 32))
)

func tokens(t testing.TB, key []byte) *accountjwt.Codec {
	t.Helper()
	return testenv.Must(accountjwt.New(key))(t)
}

func claims() account.Claims {
	return account.Claims{
		ID: "an id", UserID: 7, Session: "a session", IssuedAt: noon, ExpiresAt: noon.Add(account.AccessTokenTTL),
	}
}

func sign(t testing.TB, tokens *accountjwt.Codec) string {
	t.Helper()
	return testenv.Must(tokens.Sign(claims()))(t)
}

func TestCodec(t *testing.T) {
	tok := tokens(t, key)
	text := sign(t, tok)
	got := testenv.Must(tok.Parse(text, noon.Add(time.Minute)))(t)
	testenv.Equal(t, claims(), got)
	if again := sign(t, tok); again != text {
		t.Error("equal claims have different tokens")
	}
	if len(text) > 450 {
		t.Errorf("a token has %d bytes", len(text))
	}
	payload, _ := base64.RawURLEncoding.DecodeString(strings.Split(text, ".")[1])
	var claims map[string]any
	testenv.NoError(t, json.Unmarshal(payload, &claims))
	for _, name := range []string{"iss", "aud", "sub", "exp", "nbf", "iat", "jti", "sid"} {
		if claims[name] == nil {
			t.Errorf("claim %s is missing", name)
		}
		delete(claims, name)
	}
	if len(claims) > 0 {
		t.Errorf("unexpected claims: %v", claims)
	}
}

// A replaced key is invalid from that moment on.
func TestCodec_SetKey(t *testing.T) {
	tok := tokens(t, old)
	before := sign(t, tok)
	testenv.NoError(t, tok.SetKey(key))
	if _, err := tok.Parse(before, noon); err == nil {
		t.Error("a token of the replaced key was accepted")
	}
	if _, err := tokens(t, key).Parse(sign(t, tok), noon); err != nil {
		t.Errorf("the new key does not sign: %v", err)
	}
	if err := tok.SetKey(key[:31]); err == nil {
		t.Error("a short key was accepted")
	}
}

func TestNew_refuses(t *testing.T) {
	for _, key := range [][]byte{nil, {}, key[:31]} {
		if _, err := accountjwt.New(key); err == nil {
			t.Errorf("a key of %d bytes was accepted", len(key))
		}
	}
}

// Every token in these cases is wrong in exactly one way.
func TestParse_refuses(t *testing.T) {
	good := sign(t, tokens(t, key))
	var header map[string]any
	var body jwt.MapClaims
	for i, into := range []any{&header, &body} {
		data, _ := base64.RawURLEncoding.DecodeString(strings.Split(good, ".")[i])
		testenv.NoError(t, json.Unmarshal(data, into))
	}
	forge := func(method jwt.SigningMethod, with any, change func(header map[string]any, body jwt.MapClaims)) string {
		h, b := maps.Clone(header), maps.Clone(body)
		h["alg"] = method.Alg()
		change(h, b)
		return testenv.Must((&jwt.Token{Header: h, Claims: b, Method: method}).SignedString(with))(t)
	}
	withClaim := func(name string, v any) string {
		return forge(jwt.SigningMethodHS256, key, func(_ map[string]any, b jwt.MapClaims) {
			if b[name] = v; v == nil {
				delete(b, name)
			}
		})
	}
	headed := func(name string, v any) string {
		return forge(jwt.SigningMethodHS256, key, func(h map[string]any, _ jwt.MapClaims) { h[name] = v })
	}
	as := func(map[string]any, jwt.MapClaims) {}
	_, private, _ := ed25519.GenerateKey(nil)
	parts := strings.Split(good, ".")
	tok := tokens(t, key)
	if _, err := tok.Parse(forge(jwt.SigningMethodHS256, key, as), noon); err != nil {
		t.Fatalf("the test's own token is refused: %v", err)
	}
	for name, text := range map[string]string{
		"nothing": "", "no token": "a.b.c", "two parts": parts[0] + "." + parts[1], "no signature": parts[0] + "." + parts[1] + ".",
		"another key":       forge(jwt.SigningMethodHS256, old, as),
		"none":              forge(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, as),
		"HS512":             forge(jwt.SigningMethodHS512, key, as),
		"EdDSA":             forge(jwt.SigningMethodEdDSA, private, as),
		"an unknown kid":    headed("kid", "0badc0de"),
		"no kid":            headed("kid", nil),
		"a kid of another":  headed("kid", []string{"a"}),
		"another type":      headed("typ", "JWT"),
		"another issuer":    withClaim("iss", "someone"),
		"another audience":  withClaim("aud", "someone"),
		"no audience":       withClaim("aud", nil),
		"no end":            withClaim("exp", nil),
		"no beginning":      withClaim("nbf", nil),
		"no issue":          withClaim("iat", nil),
		"no id":             withClaim("jti", nil),
		"no session":        withClaim("sid", nil),
		"no user":           withClaim("sub", nil),
		"a user of letters": withClaim("sub", "seven"),
		"user 0":            withClaim("sub", "0"),
		"over":              withClaim("exp", noon.Add(-3*time.Second).Unix()),
		"not yet":           withClaim("nbf", noon.Add(3*time.Second).Unix()),
		"issued later":      withClaim("iat", noon.Add(3*time.Second).Unix()),
		"too long":          withClaim("more", strings.Repeat("x", 4096)),
		"another body": parts[0] + "." + strings.Split(forge(jwt.SigningMethodHS256, old,
			func(_ map[string]any, b jwt.MapClaims) { b["sub"] = "8" }), ".")[1] + "." + parts[2],
	} {
		if c, err := tok.Parse(text, noon); err == nil {
			t.Errorf("Parse(%s) = %+v, want an error", name, c)
		}
		if c, err := tok.ParseExpired(text); err == nil && name != "issued later" {
			t.Errorf("%s, expired: %+v", name, c)
		}
	}
	if _, err := tok.Parse(good, noon.Add(time.Hour)); err == nil {
		t.Error("a token is accepted after its end")
	}
	if c, err := tok.ParseExpired(good); err != nil || c != claims() {
		t.Errorf("after its end: %+v, %v", c, err)
	}
}

// FuzzParse checks that no text but the signed token is accepted.
func FuzzParse(f *testing.F) {
	tok := tokens(f, key)
	good := sign(f, tok)
	f.Add(good)
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := tok.Parse(text, noon); err == nil && c != claims() {
			t.Errorf("%q was accepted as %+v", text, c)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	tok := tokens(b, key)
	text := sign(b, tok)
	for b.Loop() {
		if _, err := tok.Parse(text, noon); err != nil {
			b.Fatal(err)
		}
	}
}
