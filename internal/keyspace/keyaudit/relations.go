package keyaudit

import (
	"hash/maphash"
	"sync"
)

// relation is a set of bits with the facts seen about a document.
type relation uint8

const (
	exists     relation = 1 << iota // the document exists
	referenced                      // an index contains its id
	listed                          // the list of its entity contains its id
)

// relations stores facts about documents by the hashes of their keys. A hash collision, one in a billion for millions
// of documents, can only hide a finding. The scans of several masters share it, because an index and its document may
// be on different nodes.
type relations struct {
	seed maphash.Seed

	mu   sync.Mutex
	byID map[uint64]relation
}

// newRelations returns relations with capacity for a number of documents.
func newRelations(documents int64) *relations {
	return &relations{seed: maphash.MakeSeed(), byID: make(map[uint64]relation, min(documents, 1<<24))}
}

// noted is one fact about a document.
type noted struct {
	hash uint64
	is   relation
}

func (r *relations) seen(document string, is relation) noted {
	return noted{maphash.String(r.seed, document), is}
}

// note stores facts.
func (r *relations) note(all []noted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range all {
		r.byID[n.hash] |= n.is
	}
}

// settle deletes documents whose facts are consistent and reports whether any are left. Afterwards relations are
// read-only.
func (r *relations) settle() bool {
	for h, is := range r.byID {
		if is&exists != 0 && is&listed != 0 {
			delete(r.byID, h)
		}
	}
	return len(r.byID) > 0
}

// missing reports whether a document is referenced but was not seen.
func (r *relations) missing(document string) bool {
	is := r.byID[maphash.String(r.seed, document)]
	return is != 0 && is&exists == 0
}

// unlisted reports whether a document was seen but is not in its list.
func (r *relations) unlisted(document string) bool {
	is := r.byID[maphash.String(r.seed, document)]
	return is&exists != 0 && is&listed == 0
}
