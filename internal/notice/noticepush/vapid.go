package noticepush

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/url"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// tokenLife is how long a token is valid; RFC 8292 allows 24 hours.
const tokenLife = 12 * time.Hour

// Key identifies this installation to push services (RFC 8292). Subscriptions are bound to it. It never prints its value.
type Key struct {
	private *ecdsa.PrivateKey
	public  string // in base64url
}

// NewKey returns a new key in its stored form.
func NewKey() (string, error) {
	k, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(k.Bytes()), nil
}

// ParseKey returns a stored key.
func ParseKey(stored string) (Key, error) {
	errDamaged := errors.New("noticepush: the installation's key for Web Push is damaged")
	scalar, err := base64.StdEncoding.DecodeString(stored)
	if err != nil {
		return Key{}, errDamaged // the cause may contain the key
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	if err != nil {
		return Key{}, errDamaged
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		return Key{}, errDamaged
	}
	return Key{private, base64.RawURLEncoding.EncodeToString(public)}, nil
}

// String hides the key from fmt and logs.
func (Key) String() string { return "[redacted]" }

// GoString hides it from %#v.
func (Key) GoString() string { return "[redacted]" }

// Public returns the public key in base64url, with which browsers subscribe.
func (k Key) Public() string { return k.public }

// authorization returns the Authorization header of a request to a push service. subject is a mailto: or https: URL at
// which the service can reach the operator.
func (k Key) authorization(endpoint *url.URL, subject string, now time.Time) (string, error) {
	claims := jwt.MapClaims{"aud": endpoint.Scheme + "://" + endpoint.Host, "exp": now.Add(tokenLife).Unix(), "sub": subject}
	token, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(k.private)
	if err != nil {
		return "", errors.New("noticepush: the token cannot be signed")
	}
	return "vapid t=" + token + ", k=" + k.public, nil
}
