package redisdb

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"

	"comanda/internal/keyspace"
)

// SealChars is the length of a seal: 128 bits in base64.
const SealChars = 22

const sealBytes = 16

// UseSealKey sets the HMAC key of seals: at least 32 bytes that are not stored in Redis. All processes of an
// installation share it. Without it a DB generates its own key and rejects seals of other processes.
func (db *DB) UseSealKey(key []byte) {
	db.sealKey.Store(new(slices.Clone(key)))
}

// Seal returns a message authentication code of the parts and the key's name. Values that grant access, or that money
// is computed from, carry it: an attacker with write access to Redis can delete or replay such a value but cannot forge
// one, nor move it to another key.
//
// A seal does not expire. The reader must detect outdated values by other means, such as a revision, an expiry among
// the parts, or a revocation in SQL.
func (db *DB) Seal(key keyspace.Key, parts ...string) string {
	m := hmac.New(sha256.New, *db.sealKey.Load())
	for _, part := range append([]string{db.cfg.Namespace.Wire(key)}, parts...) {
		m.Write([]byte(strconv.Itoa(len(part)) + ":")) // length prefix: different lists of parts never hash equally
		m.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:sealBytes])
}

// Sealed reports whether seal was computed from exactly these parts for this key.
func (db *DB) Sealed(seal string, key keyspace.Key, parts ...string) bool {
	return hmac.Equal([]byte(seal), []byte(db.Seal(key, parts...)))
}

// newSealKey returns a random key.
func newSealKey() []byte {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails since Go 1.24
	return key
}
