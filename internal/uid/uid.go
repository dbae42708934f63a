// Package uid generates unique identifiers that sort by creation time.
//
// An identifier is a UUID version 7 (RFC 9562, section 5.7) in 26 characters of lower-case base32hex (RFC 4648, section
// 7, without padding) instead of 36 characters of hexadecimal: the same 128 bits, the same order as text, and short
// enough to keep Redis keys that contain one below 50 characters.
package uid

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strconv"
	"sync"
	"time"
)

// Len is the length of an identifier in characters.
const Len = 26

var encoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// Source makes identifiers; the zero value is ready. Two identifiers of one source never compare out of order, even
// within a millisecond or when the clock steps back. It is safe for concurrent use.
type Source struct {
	mu   sync.Mutex
	last uint64 // milliseconds << 12 | sequence, never decreasing
	pool [4096]byte
	left int
}

var shared Source

// New returns an identifier for an instant from the process's shared source.
func New(now time.Time) string { return shared.New(now) }

// New returns an identifier for an instant.
func (s *Source) New(now time.Time) string {
	var b [16]byte
	s.mu.Lock()
	stamp := uint64(now.UnixMilli()) << 12
	if stamp <= s.last {
		stamp = s.last + 1
	}
	s.last = stamp
	s.fill(b[8:])
	s.mu.Unlock()

	ms, seq := stamp>>12, uint16(stamp&0xfff)
	binary.BigEndian.PutUint64(b[:8], ms<<16)
	binary.BigEndian.PutUint16(b[6:8], 0x7000|seq)
	b[8] = b[8]&0x3f | 0x80
	return encoding.EncodeToString(b[:])
}

// fill copies random bytes from a pool, because one system call per identifier would dominate the cost.
func (s *Source) fill(b []byte) {
	if s.left < len(b) {
		_, _ = rand.Read(s.pool[:]) // never fails since Go 1.24; it crashes the program instead
		s.left = len(s.pool)
	}
	copy(b, s.pool[len(s.pool)-s.left:])
	s.left -= len(b)
}

// Valid reports whether s has the form of an identifier. It does not check whether the entity exists.
func Valid(s string) bool {
	if len(s) != Len {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'v') {
			return false
		}
	}
	return true
}

// Named returns the identifier of a thing that has a name elsewhere. Equal arguments have equal identifiers. It sorts by
// the instant like those of New; the rest is a hash of the parts (RFC 9562, section 5.8: version 8).
func Named(at time.Time, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write([]byte(strconv.Itoa(len(p)) + ":" + p)) // a hash never fails
	}
	b := h.Sum(nil)[:16]
	hashed := uint64(binary.BigEndian.Uint16(b[6:8]))
	binary.BigEndian.PutUint64(b[:8], uint64(at.UnixMilli())<<16|hashed)
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return encoding.EncodeToString(b)
}
