package noticepush

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"go.uber.org/goleak"

	"comanda/internal/notice"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func decode(t *testing.T, text string) []byte {
	t.Helper()
	return testenv.Must(base64.RawURLEncoding.DecodeString(text))(t)
}

// RFC 8291, appendix A: the body is the published one, byte by byte.
func TestEncrypt_published_example(t *testing.T) {
	own := testenv.Must(ecdh.P256().NewPrivateKey(decode(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")))(t)
	testenv.Equal(t, base64.RawURLEncoding.EncodeToString(own.PublicKey().Bytes()),
		"BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
	to := testenv.Must(parseKeys(
		"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "BTBZMqHH6r4Tts7J_aSIgg"))(t)
	body := testenv.Must(encryptWith([]byte("When I grow up, I want to be a watermelon"), to, own, decode(t, "DGv6ra1nlYgDCS1FRnbzlw")))(t)
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95" +
		"bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	testenv.Equal(t, base64.RawURLEncoding.EncodeToString(body), want)
	// The receiver of these tests reads the example too.
	b := browser{testenv.Must(ecdh.P256().NewPrivateKey(decode(t, "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")))(t), to.auth}
	testenv.Equal(t, string(b.decrypt(t, body)), "When I grow up, I want to be a watermelon")
}

// browser is a receiver of messages.
type browser struct {
	key  *ecdh.PrivateKey
	auth []byte
}

func newBrowser(t *testing.T) browser {
	t.Helper()
	auth := make([]byte, 16)
	_, _ = rand.Read(auth)
	return browser{testenv.Must(ecdh.P256().GenerateKey(rand.Reader))(t), auth}
}

// decrypt reads a body of one record by RFC 8188.
func (b browser) decrypt(t *testing.T, body []byte) []byte {
	t.Helper()
	salt, size, n := body[:16], binary.BigEndian.Uint32(body[16:20]), int(body[20])
	id, sealed := body[21:21+n], body[21+n:]
	if len(body) > 4096 || uint32(len(sealed)) > size {
		t.Fatalf("a body of %d bytes with records of %d", len(body), size)
	}
	shared := testenv.Must(b.key.ECDH(testenv.Must(ecdh.P256().NewPublicKey(id))(t)))(t)
	key, nonce, err := contentKey(shared, b.auth, b.key.PublicKey().Bytes(), id, salt)
	testenv.NoError(t, err)
	box := testenv.Must(cipher.NewGCM(testenv.Must(aes.NewCipher(key))(t)))(t)
	text := testenv.Must(box.Open(nil, nonce, sealed, nil))(t)
	text = bytes.TrimRight(text, "\x00")
	if text[len(text)-1] != 2 {
		t.Fatal("the record is not the last one")
	}
	return text[:len(text)-1]
}

func TestEncrypt(t *testing.T) {
	b := newBrowser(t)
	to := keys{b.key.PublicKey(), b.auth}
	seen := map[string]bool{}
	for _, n := range []int{1, 100, MaxPayload} {
		text := bytes.Repeat([]byte("x"), n)
		body := testenv.Must(encrypt(text, to))(t)
		if !bytes.Equal(b.decrypt(t, body), text) {
			t.Errorf("a text of %d bytes is not read", n)
		}
		if salt := string(body[:16]); seen[salt] {
			t.Error("a salt is used twice")
		} else {
			seen[salt] = true
		}
	}
	if _, err := encrypt(make([]byte, MaxPayload+1), to); err == nil {
		t.Error("a text that is too long is encrypted")
	}
}

// service is a push service that the test starts. It verifies and decrypts each message for its browser.
type service struct {
	*httptest.Server
	t       *testing.T
	browser browser
	key     Key
	answer  func(w http.ResponseWriter)
	texts   []string
	headers []http.Header
}

const secretPath = "/send/secret-path"

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{t: t, browser: newBrowser(t), key: testenv.Must(ParseKey(testenv.Must(NewKey())(t)))(t)}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.answer != nil {
			s.answer(w)
			return
		}
		if r.Method != http.MethodPost || r.URL.Path != secretPath || r.Header.Get("Content-Encoding") != "aes128gcm" {
			t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
		}
		s.verify(r.Header.Get("Authorization"))
		s.texts = append(s.texts, string(s.browser.decrypt(t, testenv.Must(io.ReadAll(r.Body))(t))))
		s.headers = append(s.headers, r.Header)
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(s.Close)
	return s
}

// verify checks the identity of the sender as RFC 8292 asks push services to do.
func (s *service) verify(authorization string) {
	token, key, ok := strings.Cut(strings.TrimPrefix(authorization, "vapid t="), ", k=")
	if !ok || key != s.key.Public() {
		s.t.Fatalf("Authorization: %s", authorization)
	}
	public := testenv.Must(ecdsa.ParseUncompressedPublicKey(elliptic.P256(), decode(s.t, key)))(s.t)
	claims := jwt.RegisteredClaims{}
	testenv.Must(jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return public, nil },
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithAudience(s.URL), jwt.WithExpirationRequired(), jwt.WithTimeFunc(clock)))(s.t)
	if claims.Subject != "mailto:a@house.example" || claims.ExpiresAt.After(clock().Add(24*time.Hour)) {
		s.t.Errorf("claims %+v", claims)
	}
}

func clock() time.Time { return time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) }

// client returns a client that trusts the service's certificate.
func (s *service) client(local bool) *Client {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	h := NewHTTPClient(local, roots)
	s.t.Cleanup(h.CloseIdleConnections)
	return &Client{
		HTTP: h, Key: func(context.Context) (Key, error) { return s.key, nil },
		Subject: func() string { return "mailto:a@house.example" }, Now: clock,
	}
}

func (s *service) subscription() notice.Subscription {
	return notice.Subscription{
		Endpoint: s.URL + secretPath, P256dh: base64.RawURLEncoding.EncodeToString(s.browser.key.PublicKey().Bytes()),
		Auth: base64.RawURLEncoding.EncodeToString(s.browser.auth),
	}
}

func (s *service) send(c *Client) error {
	return c.Send(s.t.Context(), s.subscription(), []byte(`{"kind":"ORDER_READY"}`), 90*time.Second, "high")
}

// A push service receives, verifies and decrypts a message, with its lifetime and its urgency.
func TestClient_Send(t *testing.T) {
	s := newService(t)
	testenv.NoError(t, s.send(s.client(true)))
	if len(s.texts) != 1 || s.texts[0] != `{"kind":"ORDER_READY"}` {
		t.Errorf("received %q", s.texts)
	}
	if h := s.headers[0]; h.Get("TTL") != "90" || h.Get("Urgency") != "high" {
		t.Errorf("headers %v", h)
	}
}

// What the service answers decides whether the message is tried again. No error contains the endpoint's path (N5).
func TestClient_answers(t *testing.T) {
	s := newService(t)
	c := s.client(true)
	for name, a := range map[string]struct {
		status int
		after  string
		want   error
	}{
		"not found": {404, "", notice.ErrGone}, "gone": {410, "", notice.ErrGone},
		"too many":                 {429, "120", notice.RetryLaterError{After: 2 * time.Minute}},
		"busy":                     {503, clock().Add(time.Minute).Format(http.TimeFormat), notice.RetryLaterError{After: time.Minute}},
		"too many, without a time": {429, "", nil}, "broken": {500, "", nil}, "refused": {403, "", notice.ErrRefused},
		"too large": {413, "", notice.ErrRefused}, "redirect": {307, "", notice.ErrRefused},
	} {
		s.answer = func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://127.0.0.1/")
			if a.after != "" {
				w.Header().Set("Retry-After", a.after)
			}
			w.WriteHeader(a.status)
		}
		err := s.send(c)
		passing := err != nil && !errors.Is(err, notice.ErrGone) && !errors.Is(err, notice.ErrRefused) && !errors.As(err, new(notice.RetryLaterError))
		if a.want != nil && !errors.Is(err, a.want) || a.want == nil && !passing {
			t.Errorf("%s: %v, want %v", name, err, a.want)
		}
		if strings.Contains(err.Error(), "secret-path") {
			t.Errorf("%s: the error contains the endpoint: %v", name, err)
		}
	}
	s.Close()
	if err := s.send(c); err == nil || errors.Is(err, notice.ErrRefused) || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("without a server: %v", err)
	}
}

// An endpoint at an address of this machine or of a private network is not connected to, whatever its name resolves to.
func TestClient_connects_to_public_addresses_only(t *testing.T) {
	s := newService(t)
	s.answer = func(http.ResponseWriter) { t.Error("a private address was reached") }
	c := s.client(false)
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.1", "169.254.169.254"} {
		sub := s.subscription()
		sub.Endpoint = "https://" + host + port + secretPath
		if err := c.Send(t.Context(), sub, []byte("x"), time.Minute, "normal"); !errors.Is(err, errAddress) || !errors.Is(err, notice.ErrRefused) {
			t.Errorf("endpoint at %s: error %v, want a refusal", host, err)
		}
	}
	sub := s.subscription()
	sub.Endpoint = "http" + strings.TrimPrefix(sub.Endpoint, "https")
	if err := c.Send(t.Context(), sub, []byte("x"), time.Minute, "normal"); !errors.Is(err, notice.ErrRefused) {
		t.Errorf("without TLS: %v", err)
	}
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1": true, "127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "255.255.255.255": false, "224.0.0.1": false, "::1": false,
		"::": false, "fe80::1": false, "fd00::1": false, "ff02::1": false, "::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false,
		"2002:7f00:1::": false, "::127.0.0.1": false, "fec0::1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is public: %t", address, got)
		}
	}
}

func TestKey_is_not_printed(t *testing.T) {
	stored := testenv.Must(NewKey())(t)
	k := testenv.Must(ParseKey(stored))(t)
	if k.String() != "[redacted]" || k.GoString() != "[redacted]" || len(decode(t, k.Public())) != 65 {
		t.Errorf("key %s %#v", k, k)
	}
	for _, damaged := range []string{"", "x", base64.StdEncoding.EncodeToString(make([]byte, 32))} {
		if _, err := ParseKey(damaged); err == nil || damaged != "" && strings.Contains(err.Error(), damaged) {
			t.Errorf("damaged key %q: error %v", damaged, err)
		}
	}
}
