package identity

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
)

// Key is a secret of the installation, 32 random bytes. It prints as nothing but its length.
type Key []byte

// KeyBytes is the length of every key.
const KeyBytes = 32

// NewKey makes a key.
func NewKey() Key {
	k := make(Key, KeyBytes)
	_, _ = rand.Read(k) // never fails since Go 1.24
	return k
}

// String hides the key from whatever prints it.
func (Key) String() string { return "[redacted]" }

// GoString hides it from %#v.
func (Key) GoString() string { return "[redacted]" }

// Derive returns the key for one use. Who learns it learns neither this key nor that of another use.
func (k Key) Derive(use string) Key { return keyOf(string(k), use) }

// Keys are the secrets that an installation makes for itself, once, and keeps in SQL.
type Keys struct {
	Token Key // signs access tokens and derives the keys of other signatures, unless the operator gives another
	Code  Key // one-time codes are kept as their HMAC with it
	Mail  Key // seals what stands in waiting mail and must not be read there
}

// Names under which the keys are kept.
const (
	TokenKey = "token"
	CodeKey  = "code"
	MailKey  = "mail"
)

var errSeal = errors.New("identity: what was sealed cannot be opened with this key")

// Seal encrypts a short text with AES-256-GCM under a random nonce. What is sealed for one use cannot be opened for
// another.
func Seal(key Key, use, text string) (string, error) {
	box, err := boxOf(key)
	if err != nil {
		return "", err
	}
	sealed := box.Seal(nil, nil, []byte(text), []byte(use)) //nolint:gosec // this box makes its nonces itself
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open gives the text that was sealed.
func Open(key Key, use, sealed string) (string, error) {
	box, err := boxOf(key)
	if err != nil {
		return "", err
	}
	data, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", errSeal
	}
	text, err := box.Open(nil, nil, data, []byte(use))
	if err != nil {
		return "", errSeal
	}
	return string(text), nil
}

func boxOf(key Key) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// keyOf derives a key from a secret that a client holds, so that only who brings the secret can open what was sealed.
func keyOf(secret, use string) Key {
	k, err := hkdf.Key(sha256.New, []byte(secret), nil, use, KeyBytes)
	if err != nil {
		panic(err) // only a length that no hash can give is refused
	}
	return k
}

// tag is an HMAC in hexadecimal: what is kept of something too short to be hashed plainly.
func tag(key Key, text string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil))
}
