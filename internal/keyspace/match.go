package keyspace

import (
	"strings"
	"sync"
)

// Find returns the index in Declarations of a raw key without its namespace; ok is false for an undeclared key. It
// takes well below a microsecond: it follows the literal prefixes of all patterns in one tree and tries only the
// patterns whose prefix matches. The first match is the only one, because no string can be a key of two declarations
// (K1).
func Find(raw string) (family int, ok bool) {
	nodes := prefixTree()
	at := int16(0)
	for i := 0; ; i++ {
		n := &nodes[at]
		for _, c := range n.candidates {
			if c.rest.match(raw[i:]) {
				return c.family, true
			}
		}
		if i == len(raw) || raw[i] >= 128 {
			return 0, false
		}
		if at = n.next[raw[i]]; at == 0 {
			return 0, false
		}
	}
}

// Match returns the declaration of a raw key without its namespace; ok is false for an undeclared key.
func Match(raw string) (d Decl, ok bool) {
	family, ok := Find(raw)
	if !ok {
		return Decl{}, false
	}
	return registry[family].Decl, true
}

// Parse returns the Key of a raw key without its namespace; ok is false for an undeclared key.
func Parse(raw string) (k Key, ok bool) {
	family, ok := Find(raw)
	if !ok {
		return Key{}, false
	}
	return Key{raw, registry[family]}, true
}

// prefixNode is a node of the prefix tree; the root is the first.
type prefixNode struct {
	next       [128]int16 // by character; 0 for none
	candidates []candidate
}

// candidate is a declaration whose literal prefix ends at this node.
type candidate struct {
	family int
	rest   pieces
}

// prefixTree builds the prefix tree on first use, after all declarations.
var prefixTree = sync.OnceValue(func() []prefixNode {
	nodes := []prefixNode{{}}
	for family, d := range registry {
		literal, rest := "", d.cut
		if len(rest) > 0 && rest[0].of == "" {
			literal, rest = rest[0].text, rest[1:]
		}
		at := int16(0)
		for _, c := range []byte(literal) {
			if nodes[at].next[c] == 0 {
				nodes[at].next[c] = int16(len(nodes)) // a few hundred nodes, fits int16
				nodes = append(nodes, prefixNode{})
			}
			at = nodes[at].next[c]
		}
		nodes[at].candidates = append(nodes[at].candidates, candidate{family, piecesOf(rest)})
	}
	return nodes
})

// piece is a part whose alphabet is a lookup table. Looking up a byte is faster than comparing it with ranges, and an
// audit matches every key of a server.
type piece struct {
	text     string // literal; empty for a segment
	min, max int
	of       [256]bool
	greedy   bool // the next part cannot begin with a character of this segment, so only the longest run can match
}

type pieces []piece

func piecesOf(parts []part) pieces {
	ps := make(pieces, len(parts))
	for i, p := range parts {
		if p.of == "" {
			ps[i].text = p.text
			continue
		}
		ps[i].min, ps[i].max = p.min, p.max
		for c := range 256 {
			ps[i].of[c] = p.of.has(byte(c))
		}
	}
	for i := range ps {
		ps[i].greedy = i+1 == len(ps) || ps[i+1].text != "" && !ps[i].of[ps[i+1].text[0]]
	}
	return ps
}

// match reports whether the pieces match all of s.
func (ps pieces) match(s string) bool {
	if len(ps) == 0 {
		return s == ""
	}
	p := &ps[0]
	if p.text != "" {
		rest, ok := strings.CutPrefix(s, p.text)
		return ok && ps[1:].match(rest)
	}
	run := 0
	for run < len(s) && run <= p.max && p.of[s[run]] {
		run++
	}
	if p.greedy {
		return p.min <= run && run <= p.max && ps[1:].match(s[run:])
	}
	for n := min(run, p.max); n >= p.min; n-- {
		if ps[1:].match(s[n:]) {
			return true
		}
	}
	return false
}
