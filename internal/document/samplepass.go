package document

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/keyspace"
)

// pass is a pass of a sampler that runs.
type samplePass struct {
	*Sampler
	Sample

	position time.Time // of the projector; zero: nothing waits
}

// gauge is a number of rows in SQL, against which Redis is held in a later pass, once the projector has passed it.
type baseline struct {
	entity    *Entity
	index     *Index    // nil: the list of all
	after     string    // the last value that was counted; then it begins again
	countedAt time.Time // when it was counted; zero: not yet
	sizes     []Size
}

func (s *Sampler) prepare() {
	s.cursors = map[*Entity]string{}
	for _, e := range Entities {
		s.baselines = append(s.baselines, &baseline{entity: e})
		for _, x := range e.Sets() {
			s.baselines = append(s.baselines, &baseline{entity: e, index: x})
		}
	}
}

// look looks at everything that a pass looks at.
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

func (p *samplePass) evictions(ctx context.Context) error {
	n, err := p.Evictions(ctx)
	if err != nil {
		return err
	}
	p.Evicted = p.started && n > p.evicted // what went before, another process has seen, or the samples will
	p.started, p.evicted = true, n         // of a server that was restarted the number begins again
	return nil
}

// passed reports whether everything that was counted then has been projected.
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

// list looks at an entity: the size of the list of all, its counter, and the next documents.
func (p *samplePass) checkList(ctx context.Context, g *baseline) error {
	before, passed := g.sizes, p.projected(g)
	if g.countedAt.IsZero() || passed {
		n, err := p.Counts.Total(ctx, g.entity)
		if err != nil {
			return err
		}
		g.sizes, g.countedAt = []Size{{N: n}}, p.Now()
	}
	batches, least := 1, int64(0)
	if passed {
		sizes, err := p.countMembers(ctx, []keyspace.Key{g.entity.Keys.List()})
		if err != nil {
			return err
		}
		least = before[0].N
		if sizes[0] < min(least, g.sizes[0].N) { // what was deleted in between makes both smaller
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
		if len(ids) < sampledDocuments || len(p.Lost) > 0 { // all were seen, or a rebuild comes anyway
			break
		}
	}
	return p.checkCounter(ctx, Ref{g.entity, last}, least)
}

// next returns the ids whose turn it is.
func (p *samplePass) nextIDs(ctx context.Context, e *Entity) ([]string, error) {
	ids, err := p.Source.IDs(ctx, e, p.cursors[e], sampledDocuments)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 && p.cursors[e] != "" { // what was behind the cursor has been deleted
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

// sets counts the members of the sets that were counted in SQL before, and looks into those with too few.
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
		return nil // what was counted is kept until the projector has passed it
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

// short returns the values whose sets have fewer members than rows had the value.
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

func (p *samplePass) countMembers(ctx context.Context, keys []keyspace.Key) ([]int64, error) {
	p.Sets += len(keys)
	return p.Mirror.Sizes(ctx, keys)
}

// compare compares documents with Redis and notes what is lost of them.
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
	said := make(map[Ref]Document, len(docs))
	for _, d := range docs {
		said[d.Ref()] = d
	}
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
	if docs, err = p.Source.Read(ctx, e, again); err != nil {
		return err
	}
	docs = slices.DeleteFunc(docs, func(d Document) bool { // it has changed meanwhile and may wait by now
		was := said[d.Ref()]
		return was.JSON != d.JSON || was.Relations != d.Relations
	})
	lost, err := p.Mirror.Compare(ctx, docs, nil)
	p.Lost = append(p.Lost, lost...)
	return err
}

// waiting returns what tells the documents that wait for the projector. Where too many do, all of them count as waiting.
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
		order, _, _ := strings.Cut(r.ID, "-") // of a line; other ids stay as they are
		_, itself := all[r]
		_, ofAll := all[Ref{r.Entity, order}]
		return itself || ofAll
	}, nil
}

// counter looks whether an entity's counter is as high as the number of a document that is there, or as their number
// was. To write the document raises it.
func (p *samplePass) checkCounter(ctx context.Context, last Ref, least int64) error {
	if last.Entity.Numeric {
		least, _ = strconv.ParseInt(last.ID, 10, 64)
	}
	for look := range 2 {
		n, err := p.Mirror.Counter(ctx, last.Entity)
		if err != nil || n >= least {
			return err
		}
		if look > 0 {
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
