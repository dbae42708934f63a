package redisdb

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"

	"comanda/internal/keyspace"
)

// SealChars is the length of a seal: 128 bits in base64.
const SealChars = 22

const sealBytes = 16

// UseSealKey sets the key under which seals are made and checked, at least 32 bytes that are not kept in Redis. All
// processes of an installation share it. Without one a DB makes a key of its own and believes nothing that another
// process has sealed.
func (db *DB) UseSealKey(key []byte) {
	kept := append([]byte(nil), key...)
	db.sealKey.Store(&kept)
}

// Seal returns what proves that the parts were written into a key by this installation. Values that grant something, or
// that money is computed from, carry it: who can write to Redis can then delete or repeat such a value and not make one.
// The name of the key is sealed too, so that a value counts nowhere else.
//
// A value that was true once stays sealed. Its reader must notice by other means that it no longer holds, such as a
// revision, an end within the parts, or a revocation in SQL.
func (db *DB) Seal(key keyspace.Key, parts ...string) string {
	m := hmac.New(sha256.New, *db.sealKey.Load())
	for _, part := range append([]string{db.cfg.Namespace.Wire(key)}, parts...) {
		m.Write([]byte(strconv.Itoa(len(part)) + ":")) // so that no two lists of parts are written alike
		m.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:sealBytes])
}

// Sealed reports whether a seal was made of exactly these parts for this key.
func (db *DB) Sealed(seal string, key keyspace.Key, parts ...string) bool {
	return hmac.Equal([]byte(seal), []byte(db.Seal(key, parts...)))
}

// newSealKey makes the key of a DB that is given none.
func newSealKey() []byte {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails since Go 1.24
	return key
}
