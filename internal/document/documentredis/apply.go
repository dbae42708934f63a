package documentredis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/seq"
)

// Apply implements document.Writer. Entries are added after the memo lists them, and removed from the memo only
// after their own removal. So a writer that dies in between leaves no entry that the next writer does not find
// (D2).
func (s *Store) Apply(ctx context.Context, docs []document.Document) (document.ApplyResult, error) {
	r := s.newApplyRun(docs)
	if err := r.readLists(ctx); err != nil {
		return document.ApplyResult{}, err
	}
	if err := r.begin(ctx); err != nil {
		return document.ApplyResult{}, err
	}
	if err := r.updateIndexes(ctx); err != nil {
		return document.ApplyResult{Lost: r.rememberUncertain()}, err
	}
	if err := r.finish(ctx); err != nil {
		return document.ApplyResult{Lost: r.rememberUncertain()}, err
	}
	return r.applied, nil
}

// ResetVersions implements document.Writer.
func (s *Store) ResetVersions(ctx context.Context, refs []document.Ref) error {
	_, err := s.send(ctx, seq.Map(refs, func(r document.Ref) redisdb.Cmd {
		keys := []keyspace.Key{r.Entity.Keys.Memo(r.ID), r.Entity.Keys.Key(r.ID)}
		return forgetScript.Command(keys, shownFields(r.Entity))
	}))
	return err
}

// applyRun is the four round trips of a batch of documents.
type applyRun struct {
	*Store
	writes  []write
	applied document.ApplyResult
	sizes   map[*document.Entity]int64 // sizes of lists whose counter is their size
}

// write is one document of an applyRun.
type write struct {
	document.Document
	entries string                // its index entries as text
	shown   bool                  // its JSON shows exactly these entries
	listed  bool                  // the list of all had it before BEGIN
	removed []document.IndexEntry // entries that it no longer has
	dropped bool                  // Redis has a newer version
}

// newApplyRun prepares a batch. Memos hold the entries as text, so each is formatted once.
func (s *Store) newApplyRun(docs []document.Document) *applyRun {
	r := &applyRun{Store: s, writes: make([]write, len(docs)), sizes: map[*document.Entity]int64{}}
	for i, d := range docs {
		r.writes[i] = write{Document: d, entries: entriesText(d.IndexEntries)}
		r.writes[i].shown = !d.Deleted && shows(d.Entity, d.JSON, r.writes[i].entries)
	}
	return r
}

// readLists is the first round trip. A document is in the list of all only after BEGIN has written its memo. So a document
// that is in the list and has no memo in BEGIN has lost it. Both keys may be on different servers, and in one round trip
// another writer could add the document in between.
func (r *applyRun) readLists(ctx context.Context) error {
	lists := sets{at: map[keyspace.Key]int{}}
	of := make([][]int, 0, len(document.Entities)) // the writes of each list
	for i, w := range r.writes {
		at := lists.put(w.Entity.Keys.List(), w.ID)
		if at == len(of) {
			of = append(of, nil)
		}
		of[at] = append(of[at], i)
	}
	present, err := r.membership(ctx, lists)
	if err != nil {
		return err
	}
	for i, flags := range present {
		for j, flag := range flags {
			r.writes[of[i][j]].listed = flag == 1
		}
	}
	return nil
}

var tombstoneLife = strconv.FormatInt(keyspace.TombstoneLife.Milliseconds(), 10)

// begin is the second round trip. It also raises the counters: a counter may be higher than the ids of the documents,
// never lower.
func (r *applyRun) begin(ctx context.Context) error {
	cmds := make([]redisdb.Cmd, 0, len(r.writes)+len(document.Entities))
	for _, w := range r.writes {
		k := w.Entity.Keys
		cmds = append(cmds, beginScript.Command([]keyspace.Key{k.Key(w.ID), k.Memo(w.ID)},
			strconv.FormatInt(w.Version, 10), w.JSON, w.entries, tombstoneLife, shownFields(w.Entity), flag(w.shown)))
	}
	for e, n := range r.highest() {
		cmds = append(cmds, raiseScript.Command([]keyspace.Key{e.Keys.Counter()}, strconv.FormatInt(n, 10)))
	}
	replies, err := r.send(ctx, cmds)
	if err != nil {
		return err
	}
	for i := range r.writes {
		text, _, err := replies[i].Text()
		if err != nil {
			return err
		}
		known := r.writes[i].begun(text)
		switch w := r.writes[i]; {
		case w.dropped:
			r.applied.Dropped = append(r.applied.Dropped, w.Ref())
		case w.listed && !known:
			r.applied.Forgotten = append(r.applied.Forgotten, w.Ref())
		}
	}
	r.addLeftovers()
	return nil
}

// begun parses BEGIN's reply: "-" for a dropped write, else the version and the entries to be removed. It reports whether
// Redis knew the entries of the version before.
func (w *write) begun(reply string) (known bool) {
	version, removed, _ := strings.Cut(reply, "\n")
	if w.dropped = version == "-"; w.dropped {
		return true
	}
	if w.Deleted {
		w.Version, _ = strconv.ParseInt(version[1:], 10, 64) // the script has chosen the version
	}
	if removed != "" {
		w.removed = parseEntries(w.Entity, removed)
	}
	return version[0] == '+'
}

// highest returns the largest written id of each entity with numeric ids.
func (r *applyRun) highest() map[*document.Entity]int64 {
	most := map[*document.Entity]int64{}
	for _, w := range r.writes {
		if !w.Entity.Numeric || w.Deleted {
			continue
		}
		if n, err := strconv.ParseInt(w.ID, 10, 64); err == nil {
			most[w.Entity] = max(most[w.Entity], n)
		}
	}
	return most
}

// addLeftovers also schedules for removal the entries that earlier failed runs may have left behind.
func (r *applyRun) addLeftovers() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.doubts) == 0 {
		return
	}
	for i := range r.writes {
		w := &r.writes[i]
		for _, e := range r.doubts[w.Ref()] {
			if !w.dropped && !slices.Contains(w.IndexEntries, e) && !slices.Contains(w.removed, e) {
				w.removed = append(w.removed, e)
			}
		}
	}
}

// rememberUncertain stores the entries that a failed round trip may have added. The memo may already belong to a
// newer writer, which does not list them. It returns the documents to project again.
func (r *applyRun) rememberUncertain() []document.Ref {
	r.mu.Lock()
	defer r.mu.Unlock()
	var refs []document.Ref
	for _, w := range r.writes {
		if w.dropped {
			continue
		}
		ref := w.Ref()
		refs = append(refs, ref)
		for _, e := range slices.Concat(w.IndexEntries, w.removed) {
			if !slices.Contains(r.doubts[ref], e) {
				r.doubts[ref] = append(r.doubts[ref], e)
			}
		}
	}
	return refs
}

// settled forgets the uncertain entries of documents that are now completely written.
func (r *applyRun) settled() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.doubts) == 0 {
		return
	}
	for _, w := range r.writes {
		if !w.dropped {
			delete(r.doubts, w.Ref())
		}
	}
}

// updateIndexes is the third round trip: the lists and index entries, members of one set together.
func (r *applyRun) updateIndexes(ctx context.Context) (err error) {
	o := newIndexOps()
	var entities []*document.Entity
	for i := range r.writes {
		w := &r.writes[i]
		if w.dropped {
			continue
		}
		o.list(w.Ref(), !w.Deleted)
		for _, e := range w.IndexEntries {
			o.entry(w.Ref(), e, true)
		}
		for _, e := range w.removed {
			o.entry(w.Ref(), e, false)
		}
		if !w.Entity.Numeric && !slices.Contains(entities, w.Entity) {
			entities = append(entities, w.Entity)
		}
	}
	run := r.lists.begin()
	defer func() { run.end(entities, err) }()
	var due, followed []*document.Entity
	for _, e := range entities {
		if run.due(e) {
			due, o.cmds = append(due, e), append(o.cmds, redisdb.Command("SCARD", e.Keys.List()))
		} else {
			followed = append(followed, e)
		}
	}
	cmds := o.commands()
	replies, err := r.send(ctx, cmds)
	// A key of another type fails the round trip. Such keys are deleted, and all commands are repeated.
	if isWrongType(err) {
		replies, err = r.replaceWrongTypes(ctx, cmds)
	}
	if err != nil {
		return err
	}
	for i, e := range due {
		if r.sizes[e], err = replies[len(o.cmds)-len(due)+i].Int(); err != nil {
			return err
		}
		run.counted(e, r.sizes[e])
	}
	for _, e := range followed {
		added, removed, err := o.listChanges(e, replies)
		if err != nil {
			return err
		}
		r.sizes[e] = run.changed(e, added, removed)
	}
	r.applied.Displaced = o.displaced(replies)
	return nil
}

// isWrongType reports whether a server has rejected a command on a key of another type.
func isWrongType(err error) bool {
	return err != nil && errors.Is(err, redisdb.ErrReply) && strings.Contains(err.Error(), "WRONGTYPE")
}

// replaceWrongTypes deletes keys that have another type than declared and repeats the commands, which are idempotent.
// Other programs have written such keys; without the deletion they would block the projection forever.
func (r *applyRun) replaceWrongTypes(ctx context.Context, cmds []redisdb.Cmd) ([]redisdb.Reply, error) {
	repairs := seq.Map(cmds, func(c redisdb.Cmd) redisdb.Cmd {
		return repairScript.Command([]keyspace.Key{c.Key()}, string(c.Key().Decl().Type))
	})
	if _, err := r.send(ctx, repairs); err != nil {
		return nil, err
	}
	return r.send(ctx, cmds)
}

// finish is the last round trip. A write without removed entries only reads the memo, or the JSON that shows it. That is
// much cheaper than a script. A tombstone may keep its removed entries, because it expires.
func (r *applyRun) finish(ctx context.Context) error {
	var cmds []redisdb.Cmd
	var ending, looking []*write
	var memos []keyspace.Key
	for i := range r.writes {
		w := &r.writes[i]
		memo := w.Entity.Keys.Memo(w.ID)
		switch {
		case w.dropped:
		case w.Deleted || len(w.removed) == 0:
			looking, memos = append(looking, w), append(memos, memo)
		default:
			ending, cmds = append(ending, w), append(cmds, finishScript.Command([]keyspace.Key{memo}, w.memo()))
		}
	}
	for e, n := range r.sizes {
		cmds = append(cmds, raiseScript.Command([]keyspace.Key{e.Keys.Counter()}, strconv.FormatInt(n, 10)))
	}
	replies, err := r.send(ctx, cmds)
	if err != nil {
		return err
	}
	found, err := r.memos(ctx, looking, memos)
	if err != nil {
		return err
	}
	for i := range ending {
		text, _, err := replies[i].Text()
		if err != nil {
			return err
		}
		found = append(found, text)
	}
	var beaten []lostWrite
	for i, w := range append(looking, ending...) {
		if text := found[i]; text != "+" && !w.isCurrent(text) {
			beaten = append(beaten, w.overtakenBy(text))
		}
	}
	if err := r.undoLosers(ctx, beaten); err != nil {
		return err
	}
	r.settled()
	return nil
}

// memos reads the memos of writes, or what the JSON of a document without a memo shows. The JSON of a document that never
// changes is not read: only a deletion can have overtaken its write, and a deletion leaves a memo.
func (r *applyRun) memos(ctx context.Context, of []*write, keys []keyspace.Key) ([]string, error) {
	for _, w := range of {
		if w.shown && !w.Entity.Immutable {
			keys = append(keys, w.Entity.Keys.Key(w.ID))
		}
	}
	texts, err := r.texts(ctx, keys)
	if err != nil {
		return nil, err
	}
	memos, docs := texts[:len(of)], texts[len(of):]
	for i, w := range of {
		if !w.shown {
			continue
		}
		shown := w.memo()
		if !w.Entity.Immutable {
			shown, docs = shownMemo(w.Entity, docs[0]), docs[1:]
		}
		if memos[i] == "" {
			memos[i] = shown
		}
	}
	return memos, nil
}

// head returns the first line of the memo that the write stores. FINISH compares only this line, which contains
// the writer's version.
func (w *write) head() string {
	version := strconv.FormatInt(w.Version, 10)
	if w.Deleted {
		return version + " x"
	}
	return version
}

// isCurrent reports whether a memo is that of the write.
func (w *write) isCurrent(memo string) bool { return head(memo) == w.head() }

// memo returns the memo that the write of an existing document stores.
func (w *write) memo() string { return w.head() + "\n" + w.entries }

// head returns the first line of a memo.
func head(memo string) string {
	h, _, _ := strings.Cut(memo, "\n")
	return h
}

// lostWrite is a write that was overtaken by a newer one, with the memo of the newer write.
type lostWrite struct {
	*write
	by memo
}

// overtakenBy parses the memo of the newer write. An empty memo lists no entries, so all entries that this write added
// are removed.
func (w *write) overtakenBy(text string) lostWrite {
	m, _ := parseMemo(w.Entity, text)
	return lostWrite{w, m}
}

// undoLosers removes entries that overtaken writes have added and newer writes do not list. It returns their
// documents to be projected, because an overtaken write may also have removed entries of the newer one.
func (r *applyRun) undoLosers(ctx context.Context, all []lostWrite) error {
	if len(all) == 0 {
		return nil
	}
	o := newIndexOps()
	for _, b := range all {
		r.applied.Lost = append(r.applied.Lost, b.Ref())
		for _, e := range b.IndexEntries {
			if !slices.Contains(b.by.entries, e) {
				o.entry(b.Ref(), e, false)
			}
		}
		if b.by.dead {
			o.list(b.Ref(), false)
		}
	}
	_, err := r.send(ctx, o.commands())
	return err
}

// Remove deletes index entries without a document; an empty index name is the list of all.
func (s *Store) Remove(ctx context.Context, found []document.Difference) error {
	o := newIndexOps()
	for _, d := range found {
		switch {
		case d.Kind == document.UnknownKey:
			if k, ok := keyspace.ParseDocument(d.Key); ok {
				o.cmds = append(o.cmds, redisdb.Command("DEL", k.Key))
			}
		case d.Entry == (document.IndexEntry{}):
			o.list(d.Ref, false)
		default:
			o.entry(d.Ref, d.Entry, false)
		}
	}
	_, err := s.lenient(ctx, o.commands()) // lenient, because nothing has to be removed from a key that is not a set
	return err
}
