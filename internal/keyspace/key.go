package keyspace

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"
)

// Key is a key built from a declaration. The zero Key is invalid, and so is a key with a segment that does not fit its
// declaration. Package redisdb refuses invalid keys, so builders return no error.
type Key struct {
	text string
	of   *declared
}

// Valid reports whether the key may be sent.
func (k Key) Valid() bool { return k.of != nil && k.text != "" }

// String returns the key without a namespace.
func (k Key) String() string { return k.text }

// Decl returns the key's declaration; it is zero for an invalid key.
func (k Key) Decl() Decl {
	if k.of == nil {
		return Decl{}
	}
	return k.of.Decl
}

// Slot returns the key's hash slot in a Redis Cluster.
func (k Key) Slot() uint16 { return Slot(k.text) }

// key builds a key from one text per segment. A text that does not fit its segment makes the key invalid and is not
// shortened: a shortened id could be the id of another entity.
func (d *declared) key(segments ...string) Key {
	size := len(d.Pattern)
	for _, s := range segments {
		size += len(s)
	}
	text := make([]byte, 0, size)
	for _, p := range d.cut {
		if p.of == "" {
			text = append(text, p.text...)
			continue
		}
		if !p.fits(segments[0]) {
			return Key{of: d}
		}
		text = append(text, segments[0]...)
		segments = segments[1:]
	}
	return Key{text: string(text), of: d}
}

// fits reports whether a segment may have this text. Lengths are bytes, which are characters in all declared alphabets.
func (p part) fits(s string) bool {
	if s == "" || len(s) < p.min || len(s) > p.max {
		return false
	}
	for i := range len(s) {
		if !p.of.has(s[i]) {
			return false
		}
	}
	return true
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

// secretLen is the length of a hashed secret: 26 characters of base32 are 130 bits, so no second secret with the same
// hash can be found.
const secretLen = 26

var secretEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// Secret returns the hash that represents a secret, such as a guest's token, in a key. Secrets themselves never appear
// in keys, because keys are visible in monitors, logs and audits.
func Secret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return strings.ToLower(secretEncoding.EncodeToString(sum[:])[:secretLen])
}

// Namespace is the prefix of every key of one installation, so that several installations can share a Redis. The zero
// Namespace adds nothing.
type Namespace string

const (
	// Every key carries the namespace, and memos carry it twice.
	namespaceMax            = 16
	namespaceChars Alphabet = "09az__--"
)

// ParseNamespace validates a configured namespace: up to 16 characters of a-z 0-9 _ -. Braces and colons are refused,
// because they would change hash tags or make keys ambiguous.
func ParseNamespace(s string) (Namespace, error) {
	if s != "" && !(part{of: namespaceChars, max: namespaceMax}).fits(s) {
		return "", fmt.Errorf("keyspace: namespace %q is not 1 to %d characters of a-z 0-9 _ -", s, namespaceMax)
	}
	return Namespace(s), nil
}

// Wire returns the key with the namespace, as it is sent.
func (n Namespace) Wire(k Key) string { return n.Raw(k.text) }

// Raw adds the namespace to the text of a key. If the hash tag is itself a key, as in memo:{user:1}, the tag gets the
// namespace too, so that both keys stay in one slot.
func (n Namespace) Raw(key string) string {
	if n == "" {
		return key
	}
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if tag, _, ok := strings.Cut(key[open:], "}"); ok && strings.Contains(tag, ":") {
			return string(n) + ":" + key[:open+1] + string(n) + ":" + key[open+1:]
		}
	}
	return string(n) + ":" + key
}

// Strip removes the namespace from a raw key; ok is false for a key of another namespace.
func (n Namespace) Strip(raw string) (key string, ok bool) {
	if n == "" {
		return raw, true
	}
	key, ok = strings.CutPrefix(raw, string(n)+":")
	if strings.IndexByte(key, '{') >= 0 {
		key = strings.Replace(key, "{"+string(n)+":", "{", 1)
	}
	return key, ok
}

// Find returns the index in Declarations of a raw key without its namespace; ok is false for an undeclared key. At
// most one declaration matches, because no string can be a key of two declarations (K1). A call takes about a
// microsecond, because the first literals rule out nearly all declarations.
func Find(raw string) (family int, ok bool) {
	for i, d := range registry {
		// Every pattern begins with a literal.
		if strings.HasPrefix(raw, d.cut[0].text) && match(d.cut[1:], raw[len(d.cut[0].text):]) {
			return i, true
		}
	}
	return 0, false
}

// Parse returns the Key of a raw key without its namespace; ok is false for an undeclared key.
func Parse(raw string) (k Key, ok bool) {
	family, ok := Find(raw)
	if !ok {
		return Key{}, false
	}
	return Key{raw, registry[family]}, true
}

// match reports whether the parts match all of s. For a segment the longest run is tried first, because the next
// literal mostly begins with a character that the segment cannot contain.
func match(parts []part, s string) bool {
	if len(parts) == 0 {
		return s == ""
	}
	p := &parts[0]
	if p.of == "" {
		rest, ok := strings.CutPrefix(s, p.text)
		return ok && match(parts[1:], rest)
	}
	run := 0
	for run < len(s) && run < p.max && p.of.has(s[run]) {
		run++
	}
	for n := run; n >= p.min; n-- {
		if match(parts[1:], s[n:]) {
			return true
		}
	}
	return false
}

const slots = 16384

// Slot returns the hash slot of a raw key: CRC16 of the hash tag, or of the whole key if it has none, modulo 16384
// (Redis Cluster specification, "Hash tags"). The tag is the text between the first { and the next }, if it is not
// empty. With it, a call whose keys are in different slots is refused before it is sent, on every kind of server.
// Otherwise only a Cluster would reveal the mistake.
func Slot(key string) uint16 {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	return crc16(key) % slots
}

// crc16 computes CRC-16/XMODEM: polynomial 0x1021, initial value 0, no reflection.
func crc16(s string) uint16 {
	var crc uint16
	for i := range len(s) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^s[i]]
	}
	return crc
}

var crcTable = func() (t [256]uint16) {
	for i := range t {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
		t[i] = crc
	}
	return t
}()
