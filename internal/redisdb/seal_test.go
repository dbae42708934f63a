package redisdb_test

import (
	"strings"
	"testing"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb/redisdbtest"
)

// A seal is valid only for its key, its parts and the installation's key.
func TestSeal(t *testing.T) {
	db, other := redisdbtest.Embedded(t), redisdbtest.Embedded(t)
	key, otherKey := keyspace.MenuActive(1), keyspace.MenuActive(2)
	seal := db.Seal(key, "ab", "c")
	if len(seal) != 22 || !db.Sealed(seal, key, "ab", "c") {
		t.Errorf("%q does not hold", seal)
	}
	switch {
	case db.Sealed(seal, otherKey, "ab", "c"):
		t.Error("it holds for another key")
	case db.Sealed(seal, key, "a", "bc"), db.Sealed(seal, key, "abc"), db.Sealed(seal, key, "ab", "c", ""):
		t.Error("it holds for other parts")
	case db.Sealed("", key, "ab", "c"), db.Sealed(strings.ToLower(seal), key, "ab", "c"):
		t.Error("another seal holds")
	case other.Sealed(seal, key, "ab", "c"):
		t.Error("it holds where the key is another one")
	}
	shared := []byte(strings.Repeat("k", 32))
	db.UseSealKey(shared)
	other.UseSealKey(shared)
	if db.Sealed(seal, key, "ab", "c") || !other.Sealed(db.Seal(key, "x"), key, "x") {
		t.Error("the key that was set is not the one that counts")
	}
}
