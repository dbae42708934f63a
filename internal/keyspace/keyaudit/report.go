package keyaudit

import (
	"cmp"
	"slices"
)

// Kind is a kind of finding.
type Kind string

// The kinds of findings.
const (
	Unknown    Kind = "unknown_key"            // undeclared key
	WrongType  Kind = "wrong_type"             // another type than declared
	MissingTTL Kind = "missing_ttl"            // no TTL although one is declared
	LongTTL    Kind = "ttl_too_long"           // TTL above the declared maximum
	SuddenTTL  Kind = "unexpected_ttl"         // TTL although none is declared
	LostIndex  Kind = "index_without_document" // a value references a missing document
	LostEntry  Kind = "orphan_entry"           // a set contains the id of a missing document
	NotListed  Kind = "document_not_listed"    // a document is missing from the list of its entity
)

// Kinds returns all kinds, in the order of reports.
func Kinds() []Kind {
	return []Kind{Unknown, WrongType, MissingTTL, LongTTL, SuddenTTL, LostIndex, LostEntry, NotListed}
}

// Finding is the number of keys with one kind of error.
type Finding struct {
	Kind    Kind     `json:"kind"`
	Count   int64    `json:"count"`
	Samples []string `json:"samples"` // some keys with a description of the error
}

// Family is the usage of one declaration.
type Family struct {
	Pattern string `json:"pattern"` // "?" for undeclared keys
	Type    string `json:"type"`
	Keys    int64  `json:"keys"`
	Bytes   int64  `json:"bytes"` // estimated from a sample
	Longest []Key  `json:"longest" doc:"The keys with most members or bytes, at most three."`
}

// Key is one key and its size.
type Key struct {
	Key    string `json:"key"`
	Type   string `json:"type"`
	Length int64  `json:"length" doc:"Members, fields or entries; of a string, bytes."`
	Bytes  int64  `json:"bytes" doc:"Memory with the server's overhead; 0 if the server does not say."`
}

// Node is one master.
type Node struct {
	Addr  string `json:"addr"`
	Keys  int64  `json:"keys"`
	Used  int64  `json:"usedBytes" doc:"Of the whole server; 0 for an embedded store."`
	Limit int64  `json:"limitBytes" doc:"maxmemory; 0: no limit."`
}

// Report is the result of an audit.
type Report struct {
	Clean         bool      `json:"clean"`
	Keys          int64     `json:"keys"` // checked keys
	Seconds       float64   `json:"seconds"`
	KeysPerSecond float64   `json:"keysPerSecond"`
	Nodes         []Node    `json:"nodes"`
	Findings      []Finding `json:"findings"`
	Families      []Family  `json:"families"` // families with keys, largest first
	Largest       []Key     `json:"largest" doc:"The keys that need most memory, at most ten."`
}

// Count returns the number of findings of a kind.
func (r Report) Count(k Kind) int64 {
	for _, f := range r.Findings {
		if f.Kind == k {
			return f.Count
		}
	}
	return 0
}

// suspect is a finding before it is rechecked.
type suspect struct {
	kind Kind
	key  string
	note string // description for the sample
	id   string // id of the missing or unlisted document
	set  bool   // the key is a set of ids
}

func (s suspect) String() string {
	if s.note == "" {
		return s.key
	}
	return s.key + ": " + s.note
}

// recheckMax is the maximum number of suspects per kind that are rechecked; further suspects are reported at once. It
// bounds the memory and the duration of the recheck. Keys in the middle of an update are few, so they hardly change
// such a number.
const recheckMax = 10_000

// tally holds the counts of one scan. Tallies of several masters are summed.
type tally struct {
	families []familyTally // by declaration; the last is for undeclared keys
	suspects map[Kind][]suspect
	beyond   map[Kind]int64 // suspects beyond recheckMax
}

type familyTally struct {
	keys, sampled, bytes int64

	longest []Key // at most longestPerFamily, longest first
}

// longestPerFamily is the number of the longest keys of each family that are reported. It bounds how many keys are
// measured with MEMORY USAGE after the scan.
const longestPerFamily = 3

// largestKeys is the number of the largest keys of all families that are reported.
const largestKeys = 10

// candidate keeps a key if it is among the longest of its family. SCAN may return a key twice.
func (f *familyTally) candidate(k Key) {
	full := len(f.longest) == longestPerFamily
	if k.Length == 0 || full && k.Length <= f.longest[longestPerFamily-1].Length ||
		slices.ContainsFunc(f.longest, func(l Key) bool { return l.Key == k.Key }) {
		return
	}
	if full {
		f.longest = f.longest[:longestPerFamily-1]
	}
	f.longest = append(f.longest, k)
	slices.SortStableFunc(f.longest, func(a, b Key) int { return cmp.Compare(b.Length, a.Length) })
}

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
		for _, k := range f.longest {
			t.families[i].candidate(k)
		}
	}
	for kind, suspects := range other.suspects {
		for _, s := range suspects {
			t.suspect(s)
		}
		t.beyond[kind] += other.beyond[kind]
	}
}

// findings returns the remaining suspects as findings; a key that SCAN returned twice counts once.
func (t *tally) findings(samples int) []Finding {
	var all []Finding
	for _, kind := range Kinds() {
		suspects := t.suspects[kind]
		slices.SortFunc(suspects, func(a, b suspect) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
		})
		suspects = slices.CompactFunc(suspects, func(a, b suspect) bool { return a.key == b.key && a.id == b.id })
		f := Finding{Kind: kind, Count: int64(len(suspects)) + t.beyond[kind], Samples: []string{}}
		for _, s := range suspects[:min(samples, len(suspects))] {
			f.Samples = append(f.Samples, s.String())
		}
		if f.Count > 0 {
			all = append(all, f)
		}
	}
	return all
}
