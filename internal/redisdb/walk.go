package redisdb

import (
	"context"
	"slices"

	"comanda/internal/keyspace"
)

// Question is what a walk asks about a key beside its TTL.
type Question uint8

// The questions. A key that turns out to be of another type than asked for is asked for its type afterwards.
const (
	AskType    Question = iota
	AskText             // what a string holds
	AskMembers          // the first members of a set; Master.Members gives all
)

// Seen is what a walk has found out about a key.
type Seen struct {
	Key string
	State
	Text    string   // of a string, when asked for
	Members []string // of a set, when asked for
	More    bool     // the set has more members than these
}

// Walk is Scan that also asks about each key. The slice is reused when fn has returned.
func (m *Master) Walk(ctx context.Context, match string, ask func(key string) Question, fn func(page []Seen) error) error {
	return m.walk(ctx, match, ask, fn)
}

// page is a part of a walk.
type page struct {
	seen      []Seen
	questions []Question
	cursor    string // of the next page; "0" after the last
}

// walk follows the cursor to its end, on a connection of its own. The call for the next page and the questions about
// this one are sent together, and while the server works on them the page before is handed on: so neither waits for the
// other. The embedded store waits for whoever does not take its answers, so there all are taken first.
func (m *Master) walk(ctx context.Context, match string, ask func(string) Question, fn func([]Seen) error) error {
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
		m.question(w, now, ask)
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

// readPage takes what SCAN has answered.
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
		p.seen = append(p.seen, Seen{Key: key})
	}
	return nil
}

func (m *Master) question(w *wire, p *page, ask func(string) Question) {
	p.questions = p.questions[:0]
	if ask == nil {
		return
	}
	for i := range p.seen {
		q := ask(p.seen[i].Key)
		m.put(w, p.seen[i].Key, q)
		p.questions = append(p.questions, q)
	}
}

// put asks two things of a key.
func (m *Master) put(w *wire, key string, q Question) {
	key = rawKey(m.namespace, key)
	switch q {
	case AskText:
		w.add("GET", key)
	case AskMembers:
		w.add("SSCAN", key, "0", "COUNT", scanPage)
	default:
		w.add("TYPE", key)
	}
	w.add("PTTL", key)
}

// finish takes the answers about a page and hands it on.
func (m *Master) finish(ctx context.Context, w *wire, p *page, fn func([]Seen) error) error {
	w.extend()
	for i := range p.questions {
		if err := w.readAbout(&p.seen[i], p.questions[i]); err != nil {
			return translateWire("SCAN", err)
		}
	}
	return m.hand(ctx, p.seen, len(p.questions) > 0, fn)
}

// unasked marks a key whose type the answer did not tell.
const unasked keyspace.Type = ""

func (w *wire) readAbout(s *Seen, q Question) error {
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
	case q == AskMembers && len(v.list) == 2:
		s.Type, s.Members, s.More = keyspace.Set, textsOf(v.list[1].list), v.list[0].text != "0"
	default:
		s.Type = unasked
	}
	return nil
}

// hand asks what an answer of another type has left open, and gives the page on in pieces: the embedded store gives
// everything at once.
func (m *Master) hand(ctx context.Context, all []Seen, asked bool, fn func([]Seen) error) error {
	for some := range slices.Chunk(all, 2*scanCount) {
		var open []string
		for i := range some {
			if asked && some[i].Type == unasked {
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
