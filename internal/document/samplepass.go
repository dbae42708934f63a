package document

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/seq"
)

// samplePass is a pass of a sampler in progress.
type samplePass struct {
	*Sampler
	Sample

	position time.Time // position of the projector; zero if nothing is pending
}

// baseline is a number of rows in SQL. A later pass compares Redis with it, after the projector has written all
// changes from before the count.
type baseline struct {
	entity    *Entity
	index     *Index    // nil for the list of all
	after     string    // last counted value; "" restarts
	countedAt time.Time // time of counting; zero if not counted yet
	sizes     []Size
	total     Tally // of the list of all
}

// prepare creates baselines without counts. The first pass counts the rows in SQL, the second pass compares.
func (s *Sampler) prepare() {
	s.cursors = map[*Entity]string{}
	for _, e := range Entities {
		s.baselines = append(s.baselines, &baseline{entity: e})
		for _, x := range e.Sets() {
			s.baselines = append(s.baselines, &baseline{entity: e, index: x})
		}
	}
}

// run checks everything once.
func (p *samplePass) run(ctx context.Context) (err error) {
	if p.baselines == nil {
		p.prepare()
	}
	if err := p.evictions(ctx); err != nil {
		return err
	}
	if p.position, err = p.Counts.Position(ctx); err != nil {
		return err
	}
	for _, g := range p.baselines {
		if g.index == nil {
			err = p.checkList(ctx, g)
		} else {
			err = p.checkSets(ctx, g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// evictions compares the servers' counters with those of the last pass.
func (p *samplePass) evictions(ctx context.Context) error {
	n, err := p.Evictions(ctx)
	if err != nil {
		return err
	}
	p.Evicted = p.started && n > p.evicted // evictions before the first pass are found by other processes or by samples
	p.started, p.evicted = true, n         // after a restart of a server the number starts at 0
	return nil
}

// projected reports whether everything that was counted at the time of a baseline has been projected.
func (p *samplePass) projected(g *baseline) bool {
	if g.countedAt.IsZero() {
		return false
	}
	if p.position.IsZero() || p.position.After(g.countedAt.Add(clockSlack)) {
		return true
	}
	p.Behind = true
	return false
}

// checkList checks an entity: the size of the list of all, its counter, and the next documents.
func (p *samplePass) checkList(ctx context.Context, g *baseline) error {
	before, passed := g.sizes, p.projected(g)
	if g.countedAt.IsZero() || passed {
		total, err := p.Counts.Total(ctx, g.entity, g.total)
		if err != nil {
			return err
		}
		g.total, g.sizes, g.countedAt = total, []Size{{N: total.N}}, p.Now()
	}
	batches, least := 1, int64(0)
	if passed {
		sizes, err := p.countMembers(ctx, []keyspace.Key{g.entity.Keys.List()})
		if err != nil {
			return err
		}
		least = before[0].N
		if sizes[0] < min(least, g.sizes[0].N) { // deletions between the counts make both smaller
			batches = shortListBatches
		}
	}
	var last string
	for range batches {
		ids, err := p.nextIDs(ctx, g.entity)
		if err != nil || len(ids) == 0 {
			return err
		}
		last = ids[len(ids)-1]
		if err := p.compare(ctx, g.entity, ids); err != nil {
			return err
		}
		if len(ids) < sampledDocuments || len(p.Lost) > 0 { // all were checked, or a rebuild follows anyway
			break
		}
	}
	return p.checkCounter(ctx, Ref{g.entity, last}, least)
}

// nextIDs returns the next ids to check, from the beginning again after the last.
func (p *samplePass) nextIDs(ctx context.Context, e *Entity) ([]string, error) {
	ids, err := p.Source.IDs(ctx, e, p.cursors[e], sampledDocuments)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 && p.cursors[e] != "" { // the rows after the cursor were deleted
		if ids, err = p.Source.IDs(ctx, e, "", sampledDocuments); err != nil {
			return nil, err
		}
	}
	p.cursors[e] = ""
	if len(ids) == sampledDocuments {
		p.cursors[e] = ids[len(ids)-1]
	}
	return ids, nil
}

// checkSets counts the members of the sets in the baseline and examines those with too few.
func (p *samplePass) checkSets(ctx context.Context, g *baseline) error {
	if p.projected(g) {
		short, err := p.shortSets(ctx, g)
		if err != nil {
			return err
		}
		for _, value := range short[:min(len(short), sampledShortSets)] {
			ids, _, err := p.Source.Find(ctx, g.entity, []Where{{g.index, value}}, 0, sampledDocuments)
			if err != nil {
				return err
			}
			if err := p.compare(ctx, g.entity, ids); err != nil {
				return err
			}
		}
	} else if !g.countedAt.IsZero() {
		return nil // the baseline stays until the projector has written the changes from before it
	}
	sizes, err := p.Counts.Sizes(ctx, g.entity, g.index, g.after, sampledSets)
	if err != nil {
		return err
	}
	g.after = ""
	if len(sizes) == sampledSets {
		g.after = sizes[len(sizes)-1].Value
	}
	g.sizes, g.countedAt = sizes, p.Now()
	return nil
}

// shortSets returns the values whose sets have fewer members than rows had the value.
func (p *samplePass) shortSets(ctx context.Context, g *baseline) ([]string, error) {
	var keys []keyspace.Key
	var of []Size
	for _, size := range g.sizes {
		encoded, indexed := g.index.Encode(size.Value)
		if !indexed {
			continue
		}
		for _, family := range g.index.Keys {
			if k := family.Key(encoded); k.Valid() {
				keys, of = append(keys, k), append(of, size)
			}
		}
	}
	sizes, err := p.countMembers(ctx, keys)
	if err != nil {
		return nil, err
	}
	var values []string
	for i, n := range sizes {
		if n < of[i].N {
			values = append(values, of[i].Value)
		}
	}
	return slices.Compact(values), nil
}

// countMembers returns the sizes of sets and counts them in the Sample.
func (p *samplePass) countMembers(ctx context.Context, keys []keyspace.Key) ([]int64, error) {
	p.Sets += len(keys)
	return p.Mirror.Sizes(ctx, keys)
}

// compare compares documents with Redis and adds losses.
func (p *samplePass) compare(ctx context.Context, e *Entity, ids []string) error {
	docs, err := p.Source.Read(ctx, e, ids)
	if err != nil {
		return err
	}
	p.Documents += len(docs)
	found, err := p.Mirror.Compare(ctx, docs, nil)
	if err != nil || len(found) == 0 {
		return err
	}
	first := seq.Index(docs, Document.Ref)
	var again []string
	waiting, err := p.pendingRefs(ctx)
	if err != nil {
		return err
	}
	for _, d := range found {
		if !waiting(d.Ref) && !slices.Contains(again, d.Ref.ID) {
			again = append(again, d.Ref.ID)
		}
	}
	// SQL is read again after the outbox: a document that has not changed and is not pending has been projected.
	if docs, err = p.Source.Read(ctx, e, again); err != nil {
		return err
	}
	docs = slices.DeleteFunc(docs, func(d Document) bool { // changed meanwhile, and may be pending now
		before := first[d.Ref()]
		return before.JSON != d.JSON || before.Relations != d.Relations
	})
	lost, err := p.Mirror.Compare(ctx, docs, nil)
	p.Lost = append(p.Lost, lost...)
	return err
}

// pendingRefs returns a function that reports whether a document is pending. If too many are, it always reports true.
func (p *samplePass) pendingRefs(ctx context.Context) (func(Ref) bool, error) {
	all, known, err := p.Counts.Pending(ctx, maxPending)
	if err != nil {
		return nil, err
	}
	if !known {
		p.Behind = true
		return func(Ref) bool { return true }, nil
	}
	return func(r Ref) bool {
		order, _, _ := strings.Cut(r.ID, "-") // the order of a line; other ids stay as they are
		_, itself := all[r]
		_, ofAll := all[Ref{r.Entity, order}]
		return itself || ofAll
	}, nil
}

// checkCounter checks that an entity's counter is at least the highest existing number, or the number of documents.
// Writing the document raises the counter.
func (p *samplePass) checkCounter(ctx context.Context, last Ref, least int64) error {
	if last.Entity.Numeric {
		least, _ = strconv.ParseInt(last.ID, 10, 64)
	}
	for attempt := range 2 {
		n, err := p.Mirror.Counter(ctx, last.Entity)
		if err != nil || n >= least {
			return err
		}
		if attempt > 0 {
			break
		}
		waiting, err := p.pendingRefs(ctx)
		if err != nil || waiting(last) {
			return err
		}
	}
	p.Lost = append(p.Lost, Difference{Kind: CounterLow, Ref: last, Key: last.Entity.Keys.Counter().String()})
	return nil
}
