package account

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

// Key is a secret of the installation: 32 random bytes. It never prints its value.
type Key []byte

// KeyBytes is the length of every key in bytes.
const KeyBytes = 32

// NewKey returns a random key.
func NewKey() Key {
	k := make(Key, KeyBytes)
	_, _ = rand.Read(k) // never fails since Go 1.24
	return k
}

// String hides the key from fmt and logs.
func (Key) String() string { return "[redacted]" }

// GoString hides it from %#v.
func (Key) GoString() string { return "[redacted]" }

// Derive returns the key for one purpose. It reveals neither this key nor the key of another purpose.
func (k Key) Derive(use string) Key { return deriveKey(string(k), use) }

// Keys are the installation's own secrets. They are created once and stored in SQL.
type Keys struct {
	Token Key // signs access tokens and derives other signing keys, unless the operator configures another
	Code  Key // HMAC key of stored one-time codes
	Mail  Key // encrypts codes in queued e-mails
}

// Names under which the keys are stored.
const (
	TokenKey = "token"
	CodeKey  = "code"
	MailKey  = "mail"
)

// errDecrypt is the same for a damaged text, another key and another purpose: the authentication does not distinguish
// them.
var errDecrypt = errors.New("account: the text cannot be decrypted with this key")

// Encrypt encrypts a short text with AES-256-GCM and a random nonce. The purpose is authenticated: Decrypt fails with
// another one.
func Encrypt(key Key, use, text string) (string, error) {
	box, err := newAEAD(key)
	if err != nil {
		return "", err
	}
	encrypted := box.Seal(nil, nil, []byte(text), []byte(use)) //nolint:gosec // NewGCMWithRandomNonce generates the nonce
	return base64.RawURLEncoding.EncodeToString(encrypted), nil
}

// Decrypt decrypts a text from Encrypt.
func Decrypt(key Key, use, encrypted string) (string, error) {
	box, err := newAEAD(key)
	if err != nil {
		return "", err
	}
	data, err := base64.RawURLEncoding.DecodeString(encrypted)
	if err != nil {
		return "", errDecrypt
	}
	text, err := box.Open(nil, nil, data, []byte(use))
	if err != nil {
		return "", errDecrypt
	}
	return string(text), nil
}

// newAEAD returns AES-256-GCM that puts a random nonce before each text. Random nonces of 96 bits allow 2^32 texts per
// key (NIST SP 800-38D, section 8.3); an installation encrypts far fewer.
func newAEAD(key Key) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// deriveKey derives a key from a secret by HKDF-SHA-256.
func deriveKey(secret, use string) Key {
	k, err := hkdf.Key(sha256.New, []byte(secret), nil, use, KeyBytes)
	if err != nil {
		panic(err) // only an impossible length fails
	}
	return k
}

// hmacHex returns an HMAC-SHA-256 in hexadecimal. It stores values that are too short to be hashed without a key.
func hmacHex(key Key, text string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil))
}
