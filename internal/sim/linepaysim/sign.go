package linepaysim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
)

// authenticate verifies the merchant's signature over the bytes of the path and of the query or body as received. It
// returns an error message, or an empty string.
func (s *Simulator) authenticate(r *http.Request, body []byte) string {
	nonce := r.Header.Get("X-Line-Authorization-Nonce")
	switch {
	case r.Header.Get("X-Line-Channelid") != s.channelID:
		return "Header information error: the channel."
	case nonce == "" || len(nonce) > 100:
		return "Header information error: the nonce."
	case !s.signed(r, body, nonce):
		return "Header information error: the signature."
	// Last, because a request with a wrong signature must not use up a nonce.
	case !s.remember(nonce):
		return "Header information error: the nonce was used before."
	}
	return ""
}

// signed reports whether the secret has signed the request. It signs the escaped path as it was received, and compares
// in constant time.
func (s *Simulator) signed(r *http.Request, body []byte, nonce string) bool {
	given, err := base64.StdEncoding.DecodeString(r.Header.Get("X-Line-Authorization"))
	if err != nil {
		return false
	}
	payload := string(body)
	if r.Method == http.MethodGet {
		payload = r.URL.RawQuery
	}
	message := strings.Join([]string{s.secret, r.URL.EscapedPath(), payload, nonce}, "")
	h := hmac.New(sha256.New, []byte(s.secret))
	_, _ = io.WriteString(h, message) // a hash never fails
	return hmac.Equal(h.Sum(nil), given)
}

// remember reports whether a nonce is new, and stores it. After Keep others it may be used again.
func (s *Simulator) remember(nonce string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nonces.Add(nonce, struct{}{})
}
