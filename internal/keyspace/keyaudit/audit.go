// Package keyaudit verifies a live Redis against package keyspace: every key must be declared, have the declared type and
// an allowed TTL; every id in an index must have its document, and every document must be listed.
//
// It scans all keys of every master once, on separate connections and at a limited rate. It checks suspected errors a
// second time before it reports them, because a key may be in the middle of an update. It needs about sixteen bytes of
// memory per document: it stores hashes, and scans a second time for the names only if something is missing.
//
//	Q1  it only reads
//	Q2  a reported finding was seen twice, the second time after a pause; beyond recheckMax findings of a kind, once
//	Q3  keys that exist during the whole scan are checked; keys that come or go meanwhile may be missed
package keyaudit

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"comanda/internal/clock"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// Options control an audit. The zero value runs at full speed without progress reports.
type Options struct {
	Rate     int                     // keys per second over all masters; 0 means no limit
	Samples  int                     // per kind of finding; 0 means 10
	MaxKeys  int64                   // maximum number of keys, otherwise Run returns ErrTooMany; 0 means no limit
	Progress func(done, total int64) // called after each page; calls do not overlap

	wait func(ctx context.Context, d time.Duration) error // tests replace it
}

const (
	defaultSamples = 10

	// recheckPause is far longer than an update in progress: the commands of one round trip, or a document and its index
	// entries.
	recheckPause = time.Second
)

// ErrTooMany reports that there are more keys than Options.MaxKeys.
var ErrTooMany = errors.New("audit: there are too many keys")

// Run audits all masters concurrently.
func Run(ctx context.Context, db *redisdb.DB, o Options) (Report, error) {
	o.Samples = cmp.Or(o.Samples, defaultSamples)
	if o.wait == nil {
		o.wait = clock.Wait
	}
	c, err := db.Inspect(ctx)
	if err != nil {
		return Report{}, err
	}
	defer c.Close()
	a := newAuditor(c, o)
	begun := clock.Start()
	r := Report{Nodes: []Node{}, Findings: []Finding{}, Largest: []Key{}}
	memory, err := db.Memory(ctx)
	if err != nil {
		return r, err
	}
	if r.Nodes, err = a.sizes(ctx, memory); err != nil {
		return r, err
	}
	if o.MaxKeys > 0 && a.total > o.MaxKeys {
		return r, ErrTooMany
	}
	// Every document has a memo, so at most half of the keys are documents. The number is only an initial capacity.
	a.relations = newRelations(a.total / 2)
	sum, err := a.walkAll(ctx, a.first)
	if err != nil {
		return r, err
	}
	took := begun.Elapsed()
	if a.relations.settle() {
		again, err := a.walkAll(ctx, a.second)
		if err != nil {
			return r, err
		}
		for i := range again.families {
			again.families[i] = familyTally{} // counted by the first scan
		}
		sum.add(again)
	}
	if err := a.recheck(ctx, sum); err != nil {
		return r, err
	}
	if r.Largest, err = a.measureLongest(ctx, sum); err != nil {
		return r, err
	}
	a.fill(&r, sum, took)
	return r, nil
}

// auditor is the state of one audit.
type auditor struct {
	inspector *redisdb.Inspector
	options   Options
	decls     []keyspace.Decl
	holdings  []keyspace.Holding
	relations *relations
	total     int64

	begun    clock.Stopwatch
	seen     atomic.Int64 // keys on all masters; the rate applies to their sum
	progress sync.Mutex   // held while Progress runs, so that its calls do not overlap
}

func newAuditor(c *redisdb.Inspector, o Options) *auditor {
	return &auditor{inspector: c, options: o, decls: keyspace.Declarations(), holdings: keyspace.Holdings()}
}

// sizes returns the keys and the memory of each master, and adds up the keys for the progress of the scan.
func (a *auditor) sizes(ctx context.Context, memory redisdb.Memory) ([]Node, error) {
	nodes := []Node{}
	for _, m := range a.inspector.Masters() {
		n, err := m.Size(ctx)
		if err != nil {
			return nil, err
		}
		node := Node{Addr: m.Addr(), Keys: n}
		for _, s := range memory.Servers {
			if s.Addr == node.Addr {
				node.Used, node.Limit = s.Used, s.Limit
			}
		}
		nodes = append(nodes, node)
		a.total += n
	}
	return nodes, nil
}

// walkAll scans all masters concurrently and returns the sum of their tallies.
func (a *auditor) walkAll(ctx context.Context, page func(*walk, []redisdb.KeyInfo) error) (*tally, error) {
	a.begun = clock.Start()
	a.seen.Store(0)
	all, ctx := errgroup.WithContext(ctx)
	walks := make([]*walk, len(a.inspector.Masters()))
	for i, m := range a.inspector.Masters() {
		w := &walk{auditor: a, ctx: ctx, master: m, tally: newTally(len(a.decls))}
		walks[i] = w
		all.Go(func() error {
			return m.Walk(ctx, "", a.lookup, func(seen []redisdb.KeyInfo) error {
				if err := page(w, seen); err != nil {
					return err
				}
				return a.pace(ctx, len(seen))
			})
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	sum := newTally(len(a.decls))
	for _, w := range walks {
		sum.add(w.tally)
	}
	return sum, nil
}

// lookup returns the data to read about a key: the ids in it, or only its type.
func (a *auditor) lookup(key string) redisdb.Lookup {
	family, ok := keyspace.Find(key)
	if !ok {
		return redisdb.LookupType
	}
	switch h := a.holdings[family]; {
	case h.Entity == "" || h.Document:
		return redisdb.LookupType
	case a.decls[family].Type == keyspace.Set:
		return redisdb.LookupMembers
	default:
		return redisdb.LookupText
	}
}

// pace reports progress, and waits while the scan is ahead of its rate. It waits between pages only, so the rate is an
// average over some pages. The wait ends with ctx.
func (a *auditor) pace(ctx context.Context, keys int) error {
	seen := a.seen.Add(int64(keys))
	if a.options.Progress != nil {
		a.progress.Lock()
		a.options.Progress(min(seen, a.total), a.total)
		a.progress.Unlock()
	}
	if a.options.Rate <= 0 {
		return ctx.Err()
	}
	due := time.Duration(float64(seen) / float64(a.options.Rate) * float64(time.Second))
	if ahead := due - a.begun.Elapsed(); ahead > 0 {
		return a.options.wait(ctx, ahead)
	}
	return ctx.Err()
}

// measureLongest measures the memory of the longest keys of every family, and returns the largest of all. A family's
// longest key is not always its largest, but a key that is large is long.
func (a *auditor) measureLongest(ctx context.Context, sum *tally) ([]Key, error) {
	var names []string
	for _, f := range sum.families {
		for _, k := range f.longest {
			names = append(names, k.Key)
		}
	}
	sizes, err := a.inspector.Memory(ctx, names)
	if err != nil {
		return nil, err
	}
	largest := []Key{}
	for i := range sum.families {
		for j := range sum.families[i].longest {
			k := &sum.families[i].longest[j]
			k.Bytes, sizes = sizes[0], sizes[1:]
			largest = append(largest, *k)
		}
	}
	slices.SortStableFunc(largest, func(x, y Key) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(y.Length, x.Length))
	})
	return largest[:min(len(largest), largestKeys)], nil
}

// fill writes the sums of all masters into the report. The memory of a kind of key is extrapolated from samples, because
// measuring each key would take longer than the scan.
func (a *auditor) fill(r *Report, sum *tally, took time.Duration) {
	r.Seconds = took.Seconds()
	r.Families = []Family{}
	for i, f := range sum.families {
		r.Keys += f.keys
		if f.keys == 0 {
			continue
		}
		family := Family{Pattern: "?", Keys: f.keys, Longest: append([]Key{}, f.longest...)}
		if i < len(a.decls) {
			family.Pattern, family.Type = a.decls[i].Pattern, string(a.decls[i].Type)
		}
		if f.sampled > 0 {
			family.Bytes = f.bytes * f.keys / f.sampled
		}
		r.Families = append(r.Families, family)
	}
	slices.SortStableFunc(r.Families, func(x, y Family) int { return cmp.Compare(y.Bytes, x.Bytes) })
	r.KeysPerSecond = float64(r.Keys) / max(took.Seconds(), 1e-9)
	if found := sum.findings(a.options.Samples); found != nil {
		r.Findings = found
	}
	r.Clean = len(r.Findings) == 0
}

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

// fact is one observation about a document.
type fact struct {
	hash uint64
	is   relation
}

func (r *relations) seen(document string, is relation) fact {
	return fact{maphash.String(r.seed, document), is}
}

// add stores facts.
func (r *relations) add(all []fact) {
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
