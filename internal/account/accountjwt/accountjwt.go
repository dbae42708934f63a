// Package accountjwt implements access tokens as JSON Web Tokens (RFC 9068), signed with HS256 and one key. After the
// key is replaced all earlier tokens are invalid, so that a stolen key is worthless; clients then refresh.
//
// Nothing in a token is used before its signature is verified. Of its header only the algorithm, the type and the key
// id are read; keys and URLs in it are ignored.
package accountjwt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"comanda/internal/account"

	"github.com/golang-jwt/jwt/v5"
)

const (
	tokenType = "at+jwt" // RFC 9068: no other token of Comanda is accepted as an access token
	issuer    = "comanda"
	audience  = "comanda" // only Comanda itself reads its access tokens

	// MinKey is the minimum length of a key in bytes: the length of the hash.
	MinKey = 32

	// leeway is the tolerated difference between the clocks of several processes.
	leeway = 2 * time.Second
)

var (
	errKey   = fmt.Errorf("accountjwt: a key needs at least %d bytes", MinKey)
	errToken = errors.New("accountjwt: not an access token of ours")
)

// Codec is account.TokenCodec. It is safe for concurrent use.
type Codec struct{ key atomic.Pointer[signingKey] }

type signingKey struct {
	id    string // a hash of the key
	bytes []byte
}

// New returns a codec that signs with key.
func New(key []byte) (*Codec, error) {
	t := &Codec{}
	return t, t.SetKey(key)
}

// SetKey replaces the key. Tokens signed with the previous key are refused from then on.
func (t *Codec) SetKey(key []byte) error {
	if len(key) < MinKey {
		return errKey
	}
	t.key.Store(&signingKey{keyID(key), key})
	return nil
}

// keyID returns an identifier of a key that reveals nothing about it.
func keyID(key []byte) string {
	// The prefix makes this digest differ from any other digest of the key. 32 bits distinguish keys and need no
	// secrecy.
	sum := sha256.Sum256(append([]byte("comanda key id "), key...))
	return hex.EncodeToString(sum[:4])
}

// claims are the registered claims and the session.
type claims struct {
	jwt.RegisteredClaims

	Session string `json:"sid"`
}

// Sign returns a signed token. Equal claims return the same text, so that a repeated refresh returns the same pair.
func (t *Codec) Sign(c account.Claims) (string, error) {
	issued := jwt.NewNumericDate(c.IssuedAt)
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Audience: jwt.ClaimStrings{audience}, Subject: strconv.FormatInt(c.UserID, 10), ID: c.ID,
			IssuedAt: issued, NotBefore: issued, ExpiresAt: jwt.NewNumericDate(c.ExpiresAt),
		},
		Session: c.Session,
	})
	key := t.key.Load()
	token.Header["typ"], token.Header["kid"] = tokenType, key.id
	return token.SignedString(key.bytes)
}

// Parse returns the claims of a token that was signed with the current key and is valid at now.
func (t *Codec) Parse(text string, now time.Time) (account.Claims, error) {
	if len(text) > account.MaxAccessToken {
		return account.Claims{}, errToken
	}
	p := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(issuer), jwt.WithAudience(audience),
		jwt.WithExpirationRequired(), jwt.WithNotBeforeRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding(),
		jwt.WithLeeway(leeway), jwt.WithTimeFunc(func() time.Time { return now }))
	var c claims
	if _, err := p.ParseWithClaims(text, &c, t.keyFor); err != nil {
		return account.Claims{}, err
	}
	user, err := strconv.ParseInt(c.Subject, 10, 64)
	if err != nil || user <= 0 || c.ID == "" || c.Session == "" || c.IssuedAt == nil {
		return account.Claims{}, errToken
	}
	return account.Claims{
		ID: c.ID, UserID: user, Session: c.Session, IssuedAt: c.IssuedAt.UTC(), ExpiresAt: c.ExpiresAt.UTC(),
	}, nil
}

// ParseExpired returns the claims of a token that was signed with the current key. Times are checked against the
// token's own time of issue; that time is used only after the signature is verified.
func (t *Codec) ParseExpired(text string) (account.Claims, error) {
	if len(text) > account.MaxAccessToken {
		return account.Claims{}, errToken
	}
	var unverified claims
	if _, _, err := jwt.NewParser().ParseUnverified(text, &unverified); err != nil || unverified.IssuedAt == nil {
		return account.Claims{}, errToken
	}
	return t.Parse(text, unverified.IssuedAt.Time)
}

// keyFor returns the key if the token's header has its id. The library has checked the algorithm before.
func (t *Codec) keyFor(token *jwt.Token) (any, error) {
	key := t.key.Load()
	// A token of the previous key fails here, before its signature is computed.
	name, _ := token.Header["kid"].(string)
	if kind, _ := token.Header["typ"].(string); name != key.id || kind != tokenType {
		return nil, errToken
	}
	return key.bytes, nil
}
