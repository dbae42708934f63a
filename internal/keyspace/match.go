package keyspace

import (
	"strings"
	"sync"
)

// Find tells which declaration a raw key without its namespace belongs to, by its place in Declarations; ok is false for
// a key that nobody declared. It takes well below a microsecond, because it follows the literal beginnings of all
// patterns at once and tries only those that the key shares.
func Find(raw string) (family int, ok bool) {
	nodes := beginnings()
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

// Match tells the declaration of a raw key without its namespace; ok is false for a key that nobody declared.
func Match(raw string) (d Decl, ok bool) {
	family, ok := Find(raw)
	if !ok {
		return Decl{}, false
	}
	return registry[family].Decl, true
}

// Parse makes a key of a raw one without its namespace; ok is false for a key that nobody declared.
func Parse(raw string) (k Key, ok bool) {
	family, ok := Find(raw)
	if !ok {
		return Key{}, false
	}
	return Key{raw, registry[family]}, true
}

// beginning is a node of the tree of literal beginnings, the root being the first.
type beginning struct {
	next       [128]int16 // by character; 0 for none
	candidates []candidate
}

// candidate is a declaration whose literal beginning ends here.
type candidate struct {
	family int
	rest   pieces
}

// beginnings builds the tree once every declaration is there.
var beginnings = sync.OnceValue(func() []beginning {
	nodes := []beginning{{}}
	for family, d := range registry {
		literal, rest := "", d.cut
		if len(rest) > 0 && rest[0].of == "" {
			literal, rest = rest[0].text, rest[1:]
		}
		at := int16(0)
		for _, c := range []byte(literal) {
			if nodes[at].next[c] == 0 {
				nodes[at].next[c] = int16(len(nodes)) // some hundreds of nodes
				nodes = append(nodes, beginning{})
			}
			at = nodes[at].next[c]
		}
		nodes[at].candidates = append(nodes[at].candidates, candidate{family, piecesOf(rest)})
	}
	return nodes
})

// piece is a part with its alphabet as a table.
type piece struct {
	text     string // literal; empty for a segment
	min, max int
	of       [256]bool
	greedy   bool // what follows cannot begin with a character of this segment, so the longest run is the only one
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

// match tells whether the pieces make up all of s.
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
