package linepay

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"comanda/internal/telemetry"
)

// sign returns X-LINE-Authorization: the HMAC-SHA256 of secret, path, payload and nonce, keyed with the secret. The
// payload is the body as sent, or the query without its question mark ("API authentication"). Some SDKs sign the question
// mark as well; LINE Pay then answers 1106.
func sign(secret telemetry.Secret, path string, payload []byte, nonce string) string {
	key := []byte(secret)
	mac := hmac.New(sha256.New, key)
	mac.Write(key)
	mac.Write([]byte(path))
	mac.Write(payload)
	mac.Write([]byte(nonce))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Nonce returns a random UUID. LINE Pay refuses a nonce that it has seen before ("API authentication").
func Nonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24; it would crash the program
	// Version 4 and the variant of RFC 9562: LINE Pay asks for a UUID or a timestamp.
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
