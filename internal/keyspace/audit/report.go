package audit

import (
	"cmp"
	"slices"
)

// Kind names a way in which a key can be wrong.
type Kind string

// The kinds.
const (
	Unknown     Kind = "unknown_key"            // nobody declared it
	WrongType   Kind = "wrong_type"             // it is of another type than declared
	MissingTTL  Kind = "missing_ttl"            // it stays for ever and must not
	LongTTL     Kind = "ttl_too_long"           // it stays longer than declared
	SuddenTTL   Kind = "unexpected_ttl"         // it will go and must not
	LostIndex   Kind = "index_without_document" // a value leads to a document that is not there
	LostEntry   Kind = "orphan_entry"           // a set has the id of a document that is not there
	NotInTheSet Kind = "document_not_listed"    // a document is not in the list of its entity
)

// Kinds lists all kinds, in the order of reports.
func Kinds() []Kind {
	return []Kind{Unknown, WrongType, MissingTTL, LongTTL, SuddenTTL, LostIndex, LostEntry, NotInTheSet}
}

// Finding is what was found of one kind.
type Finding struct {
	Kind    Kind     `json:"kind"`
	Count   int64    `json:"count"`
	Samples []string `json:"samples"` // a few: the key, and what is wrong with it
}

// Family is what there is of one declaration.
type Family struct {
	Pattern string `json:"pattern"` // "?" for keys that nobody declared
	Type    string `json:"type"`
	Keys    int64  `json:"keys"`
	Bytes   int64  `json:"bytes"` // estimated from a sample
}

// Node is one master.
type Node struct {
	Addr string `json:"addr"`
	Keys int64  `json:"keys"`
}

// Report is the outcome of an audit.
type Report struct {
	Clean         bool      `json:"clean"`
	Keys          int64     `json:"keys"` // looked at
	Seconds       float64   `json:"seconds"`
	KeysPerSecond float64   `json:"keysPerSecond"`
	Nodes         []Node    `json:"nodes"`
	Findings      []Finding `json:"findings"`
	Families      []Family  `json:"families"` // those that have keys, the largest first
}

// Count is the number of findings of a kind.
func (r Report) Count(k Kind) int64 {
	for _, f := range r.Findings {
		if f.Kind == k {
			return f.Count
		}
	}
	return 0
}

// suspect is a finding before it is looked at again.
type suspect struct {
	kind Kind
	key  string
	note string // what is wrong, for the sample
	id   string // of the document that is missing or not listed
	set  bool   // the key is a set of ids
}

func (s suspect) String() string {
	if s.note == "" {
		return s.key
	}
	return s.key + ": " + s.note
}

// recheckMax is how many suspects of a kind are kept for a second look; more are counted at once.
const recheckMax = 10_000

// tally counts what one walk has seen. Tallies of several masters are added up.
type tally struct {
	families []familyTally // by declaration; the last is of keys that nobody declared
	suspects map[Kind][]suspect
	beyond   map[Kind]int64 // suspects that were not kept
}

type familyTally struct{ keys, sampled, bytes int64 }

func newTally(families int) *tally {
	return &tally{
		families: make([]familyTally, families+1), suspects: map[Kind][]suspect{}, beyond: map[Kind]int64{},
	}
}

func (t *tally) suspect(s suspect) {
	if len(t.suspects[s.kind]) < recheckMax {
		t.suspects[s.kind] = append(t.suspects[s.kind], s)
		return
	}
	t.beyond[s.kind]++
}

func (t *tally) add(other *tally) {
	for i, f := range other.families {
		t.families[i].keys += f.keys
		t.families[i].sampled += f.sampled
		t.families[i].bytes += f.bytes
	}
	for kind, some := range other.suspects {
		for _, s := range some {
			t.suspect(s)
		}
		t.beyond[kind] += other.beyond[kind]
	}
}

// findings lists what is left of the suspects; a name that SCAN gave twice counts once.
func (t *tally) findings(samples int) []Finding {
	var all []Finding
	for _, kind := range Kinds() {
		some := t.suspects[kind]
		slices.SortFunc(some, func(a, b suspect) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
		})
		some = slices.CompactFunc(some, func(a, b suspect) bool { return a.key == b.key && a.id == b.id })
		f := Finding{Kind: kind, Count: int64(len(some)) + t.beyond[kind], Samples: []string{}}
		for _, s := range some[:min(samples, len(some))] {
			f.Samples = append(f.Samples, s.String())
		}
		if f.Count > 0 {
			all = append(all, f)
		}
	}
	return all
}
