package redisdb

import (
	"context"
	"slices"

	"comanda/internal/keyspace"
)

// Lookup selects what a walk reads about a key besides its TTL.
type Lookup uint8

// The lookups. If a key has another type than expected, its type is read afterwards.
const (
	LookupType    Lookup = iota
	LookupText           // the value of a string
	LookupMembers        // the first members of a set; Master.Members returns all
)

// KeyInfo is what a walk has read about a key.
type KeyInfo struct {
	Key string
	State
	Text    string   // value of a string, for LookupText
	Members []string // members of a set, for LookupMembers
	More    bool     // the set has more members
}

// Walk is Scan that also reads each key. The slice is reused after fn returns.
func (m *Master) Walk(ctx context.Context, match string, ask func(key string) Lookup, fn func(page []KeyInfo) error) error {
	return m.walk(ctx, match, ask, fn)
}

// page is one page of a walk.
type page struct {
	seen    []KeyInfo
	lookups []Lookup
	cursor  string // of the next page; "0" after the last
}

// walk follows the cursor to its end, on a separate connection. The SCAN for the next page and the lookups of this page
// are sent together. While the server executes them, fn processes the previous page, so neither side waits. The
// embedded store stops reading until its replies are read, so there all replies are read first.
func (m *Master) walk(ctx context.Context, match string, ask func(string) Lookup, fn func([]KeyInfo) error) error {
	w, err := dialWire(ctx, m.option, m.addr)
	if err != nil {
		return translateWire("SCAN", err)
	}
	defer w.close()
	defer w.writeBehind(ctx)()
	w.add(m.scan("0", match)...)
	w.send()
	before, now := &page{}, &page{}
	if err := m.readPage(w, now); err != nil {
		return err
	}
	for waiting := false; ; waiting = true {
		next := now.cursor
		if next != "0" {
			w.add(m.scan(next, match)...)
		}
		m.addLookups(w, now, ask)
		w.send()
		if waiting && !m.bare {
			if err := m.finish(ctx, w, before, fn); err != nil {
				return err
			}
		}
		if next != "0" {
			if err := m.readPage(w, before); err != nil {
				return err
			}
		}
		before, now = now, before
		if m.bare {
			if err := m.finish(ctx, w, before, fn); err != nil {
				return err
			}
		}
		if next == "0" {
			break
		}
	}
	if m.bare {
		return nil
	}
	return m.finish(ctx, w, before, fn)
}

// readPage reads a SCAN reply.
func (m *Master) readPage(w *wire, p *page) error {
	w.extend()
	answer, err := w.read()
	if err := firstOf(err, answer.err()); err != nil {
		return translateWire("SCAN", err)
	}
	if len(answer.list) != 2 {
		return translateWire("SCAN", errProtocol)
	}
	p.cursor, p.seen = answer.list[0].text, p.seen[:0]
	for _, v := range answer.list[1].list {
		key, _ := m.namespace.Strip(v.text)
		p.seen = append(p.seen, KeyInfo{Key: key})
	}
	return nil
}

func (m *Master) addLookups(w *wire, p *page, ask func(string) Lookup) {
	p.lookups = p.lookups[:0]
	if ask == nil {
		return
	}
	for i := range p.seen {
		q := ask(p.seen[i].Key)
		m.put(w, p.seen[i].Key, q)
		p.lookups = append(p.lookups, q)
	}
}

// put adds the two commands that look up a key.
func (m *Master) put(w *wire, key string, q Lookup) {
	key = rawKey(m.namespace, key)
	switch q {
	case LookupText:
		w.add("GET", key)
	case LookupMembers:
		w.add("SSCAN", key, "0", "COUNT", scanPage)
	default:
		w.add("TYPE", key)
	}
	w.add("PTTL", key)
}

// finish reads the replies to a page's lookups and passes the page to fn.
func (m *Master) finish(ctx context.Context, w *wire, p *page, fn func([]KeyInfo) error) error {
	w.extend()
	for i := range p.lookups {
		if err := w.readAbout(&p.seen[i], p.lookups[i]); err != nil {
			return translateWire("SCAN", err)
		}
	}
	return m.deliver(ctx, p.seen, len(p.lookups) > 0, fn)
}

// unknownType marks a key whose type the reply did not reveal.
const unknownType keyspace.Type = ""

func (w *wire) readAbout(s *KeyInfo, q Lookup) error {
	v, err := w.read()
	if err != nil {
		return err
	}
	life, err := w.read()
	if err := firstOf(err, life.err()); err != nil {
		return err
	}
	s.TTL = lifeOf(life.n)
	switch {
	case life.n == goneTTL:
		s.Type = goneType
	case v.kind == '+':
		s.Type = keyspace.Type(v.text)
	case v.kind == '$' && !v.null:
		s.Type, s.Text = keyspace.String, v.text
	case q == LookupMembers && len(v.list) == 2:
		s.Type, s.Members, s.More = keyspace.Set, textsOf(v.list[1].list), v.list[0].text != "0"
	default:
		s.Type = unknownType
	}
	return nil
}

// deliver reads the types that are still unknown, and passes the page to fn in pieces: the embedded store returns all
// keys in one page.
func (m *Master) deliver(ctx context.Context, all []KeyInfo, asked bool, fn func([]KeyInfo) error) error {
	for some := range slices.Chunk(all, 2*scanCount) {
		var open []string
		for i := range some {
			if asked && some[i].Type == unknownType {
				open = append(open, some[i].Key)
			}
		}
		states, err := m.States(ctx, open)
		if err != nil {
			return err
		}
		for i := range some {
			if len(states) > 0 && some[i].Key == open[0] {
				some[i].State, states, open = states[0], states[1:], open[1:]
			}
		}
		if err := fn(some); err != nil {
			return err
		}
	}
	return nil
}
