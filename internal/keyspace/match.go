package keyspace

import "strings"

// Find returns the index in Declarations of a raw key without its namespace; ok is false for an undeclared key. The
// first match is the only one, because no string can be a key of two declarations (K1). It takes about
// a microsecond, because the literals at the beginning rule out nearly all declarations.
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

// match reports whether the parts match all of s. A segment is tried with its longest run first, because the next
// literal mostly begins with a character that it cannot have.
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
