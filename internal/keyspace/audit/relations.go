package audit

import (
	"hash/maphash"
	"sync"
)

// relation is what was seen of a document, as a set of bits.
type relation uint8

const (
	there    relation = 1 << iota // the document is
	spokenOf                      // an index holds its id
	listed                        // the list of its entity holds its id
)

// relations remembers documents by the hashes of their keys: a collision, one in a billion for millions of documents,
// can only hide a finding.
type relations struct {
	seed maphash.Seed

	mu   sync.Mutex
	byID map[uint64]relation
}

// newRelations expects a number of documents; there may be more.
func newRelations(documents int64) *relations {
	return &relations{seed: maphash.MakeSeed(), byID: make(map[uint64]relation, min(documents, 1<<24))}
}

// noted is one thing seen of a document.
type noted struct {
	hash uint64
	is   relation
}

func (r *relations) seen(document string, is relation) noted {
	return noted{maphash.String(r.seed, document), is}
}

// note remembers what was seen.
func (r *relations) note(all []noted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range all {
		r.byID[n.hash] |= n.is
	}
}

// settle forgets what is as it should be, and tells whether anything is left. Afterwards relations are only read.
func (r *relations) settle() bool {
	for h, is := range r.byID {
		if is&there != 0 && is&listed != 0 {
			delete(r.byID, h)
		}
	}
	return len(r.byID) > 0
}

// missing tells whether a document was spoken of and not seen.
func (r *relations) missing(document string) bool {
	is := r.byID[maphash.String(r.seed, document)]
	return is != 0 && is&there == 0
}

// unlisted tells whether a document was seen and its list does not have it.
func (r *relations) unlisted(document string) bool {
	is := r.byID[maphash.String(r.seed, document)]
	return is&there != 0 && is&listed == 0
}
