// Package noticetest has a push service for tests. It verifies and decrypts messages with code of its own, by RFC 8188,
// RFC 8291 and RFC 8292.
package noticetest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Message is a message that the service has accepted.
type Message struct {
	Text         string
	TTL, Urgency string
	Subject      string // contact of the sender
}

// PushService is a push service with one browser. It is safe for concurrent use.
type PushService struct {
	Browser Browser
	Now     func() time.Time
	URL     string

	server *httptest.Server
	mu     sync.Mutex
	key    string // of the sender, in base64url
	answer http.HandlerFunc
	got    []Message
	errs   []error
}

// SecretPath is the path of the browser's endpoint. It must occur in no log and no error.
const SecretPath = "/send/secret-path"

// NewPushService starts a push service with a certificate of its own, until the test ends. It admits any sender until
// Expect is called.
func NewPushService(t testing.TB) *PushService {
	t.Helper()
	s := &PushService{Browser: NewBrowser(), Now: time.Now}
	s.server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	s.URL = s.server.URL
	t.Cleanup(s.Close)
	return s
}

// Close stops the service.
func (s *PushService) Close() { s.server.Close() }

// Roots returns the certificates with which clients trust the service.
func (s *PushService) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(s.server.Certificate())
	return roots
}

// Endpoint returns the address of the browser.
func (s *PushService) Endpoint() string { return s.URL + SecretPath }

// Expect makes the service admit only the sender with a public key in base64url, as a browser has subscribed with it.
func (s *PushService) Expect(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// Answer makes the service answer by a handler; nil accepts messages again.
func (s *PushService) Answer(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = h
}

// Messages returns what was received, and the reasons of refusals.
func (s *PushService) Messages() ([]Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got, errors.Join(s.errs...)
}

func (s *PushService) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answer != nil {
		s.answer(w, r)
		return
	}
	m, err := s.accept(r)
	if err != nil {
		s.errs = append(s.errs, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.got = append(s.got, m)
	w.WriteHeader(http.StatusCreated)
}

func (s *PushService) accept(r *http.Request) (m Message, err error) {
	if r.Method != http.MethodPost || r.URL.Path != SecretPath || r.Header.Get("Content-Encoding") != "aes128gcm" {
		return m, fmt.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
	}
	if m.Subject, err = s.verify(r.Header.Get("Authorization")); err != nil {
		return m, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return m, err
	}
	text, err := s.Browser.Decrypt(body)
	m.Text, m.TTL, m.Urgency = string(text), r.Header.Get("TTL"), r.Header.Get("Urgency")
	return m, err
}

// verify checks the sender as RFC 8292 asks push services to do, and returns its contact.
func (s *PushService) verify(authorization string) (string, error) {
	token, key, ok := strings.Cut(strings.TrimPrefix(authorization, "vapid t="), ", k=")
	if !ok || s.key != "" && key != s.key {
		return "", errors.New("an unknown sender")
	}
	point, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return "", err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return "", err
	}
	claims := jwt.RegisteredClaims{}
	_, err = jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return public, nil },
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithAudience(s.URL), jwt.WithExpirationRequired(), jwt.WithTimeFunc(s.Now))
	if err == nil && claims.ExpiresAt.After(s.Now().Add(24*time.Hour)) {
		err = errors.New("a token for more than 24 hours")
	}
	return claims.Subject, err
}

// Browser has the keys of a subscription.
type Browser struct {
	Key  *ecdh.PrivateKey
	Auth []byte
}

// NewBrowser returns a browser with new keys.
func NewBrowser() Browser {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth)
	return Browser{key, auth}
}

// P256dh returns the public key in base64url.
func (b Browser) P256dh() string {
	return base64.RawURLEncoding.EncodeToString(b.Key.PublicKey().Bytes())
}

// AuthText returns the secret in base64url.
func (b Browser) AuthText() string { return base64.RawURLEncoding.EncodeToString(b.Auth) }

// Decrypt returns the text of a body of one record.
func (b Browser) Decrypt(body []byte) ([]byte, error) {
	if len(body) < 86 || len(body) > 4096 || body[20] != 65 {
		return nil, fmt.Errorf("a body of %d bytes", len(body))
	}
	salt, size, id, sealed := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:86], body[86:]
	if uint64(len(sealed)) > uint64(size) {
		return nil, errors.New("a body of several records")
	}
	server, err := ecdh.P256().NewPublicKey(id)
	if err != nil {
		return nil, err
	}
	shared, err := b.Key.ECDH(server)
	if err != nil {
		return nil, err
	}
	// RFC 8291, section 3.4: HKDF in the steps of that section.
	info := "WebPush: info\x00" + string(b.Key.PublicKey().Bytes()) + string(id) + "\x01"
	secret := mac(mac(b.Auth, string(shared)), info)
	pseudorandom := mac(salt, string(secret))
	block, err := aes.NewCipher(mac(pseudorandom, "Content-Encoding: aes128gcm\x00\x01")[:16])
	if err != nil {
		return nil, err
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	text, err := box.Open(nil, mac(pseudorandom, "Content-Encoding: nonce\x00\x01")[:12], sealed, nil)
	if err != nil {
		return nil, err
	}
	text, last := bytes.CutSuffix(bytes.TrimRight(text, "\x00"), []byte{2})
	if !last {
		return nil, errors.New("the record is not the last one")
	}
	return text, nil
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}
