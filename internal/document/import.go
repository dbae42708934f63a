package document

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/seq"
	"comanda/internal/strictjson"
)

// OnConflict selects how an import handles a line whose id, or one of whose unique values, exists.
type OnConflict string

// The values of OnConflict.
const (
	Refuse  OnConflict = "refuse"  // nothing is imported
	Skip    OnConflict = "skip"    // the existing row stays
	Replace OnConflict = "replace" // the row with the id gets the values of the line
)

// Record is a validated line, ready to be written to SQL.
type Record struct {
	ID      string
	Row     []Cell              // values by field of the entity; derived ones are empty
	Members map[string][]string // relations by hidden field
	line    int
}

// Line returns the number of a record's line in the file, from 1.
func (r Record) Line() int { return r.line }

// Text returns a text of a record, empty if it is missing.
func (r Record) Text(e *Entity, field string) string { return r.Row[e.position(field)].T }

// Number returns a number or an id of a record that is never missing.
func (r Record) Number(e *Entity, field string) int64 { return r.Row[e.position(field)].N }

// SetText replaces a text that may be missing. Empty means missing. Copies of the record share it.
func (r Record) SetText(e *Entity, field, text string) {
	at := e.position(field)
	r.Row[at] = Cell{}
	if text != "" {
		r.Row[at].set(e.Fields[at], text)
	}
}

// ImportTarget receives imports; documentsql.Store implements it.
type ImportTarget interface {
	Source
	// Duplicates returns, by record id, the ids of rows with the same values in all fields of UniqueTogether.
	Duplicates(ctx context.Context, e *Entity, records []Record) (map[string]string, error)
	// Import writes records of one entity, all or none: new rows, and new values of existing ones.
	Import(ctx context.Context, e *Entity, records []Record) error
}

// Import is an import in progress. One value runs one import; it is not safe for concurrent use.
type Import struct {
	Target     ImportTarget
	OnConflict OnConflict
	DryRun     bool // validate only

	// Accept validates the file as a whole after all its lines are valid, and before any is written. An error refuses the
	// file. Nil: no such rules.
	Accept func(ctx context.Context) error

	// Normalize validates a record by the rules of the context that owns its rows, and stores its texts in the form that
	// this context compares. An error refuses the line. Nil: no further rules.
	Normalize func(e *Entity, r Record) error
}

// ImportResult is the result of an import; with DryRun, of one that would write.
type ImportResult struct {
	Lines   int            `json:"lines"`
	Written map[string]int `json:"written"` // by entity
	Skipped map[string]int `json:"skipped"`
}

// maxLineBytes bounds the memory that a line takes. The largest documents have some kilobytes.
const maxLineBytes = 1 << 20

// Run reads the lines twice: the first pass validates them all, the second writes a few hundred lines per
// transaction. Every error names its line.
func (im *Import) Run(ctx context.Context, from io.ReadSeeker) (ImportResult, error) {
	if im.OnConflict == "" {
		im.OnConflict = Refuse
	}
	result, err := im.pass(ctx, from, nil)
	if err == nil && im.Accept != nil {
		err = im.Accept(ctx)
	}
	if err != nil || im.DryRun {
		return result, err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return ImportResult{}, fmt.Errorf("document: import: %w", err)
	}
	return im.pass(ctx, from, func(e *Entity, records []Record) error {
		if err := im.Target.Import(ctx, e, records); err != nil {
			return fmt.Errorf("lines %d to %d: %w", records[0].line, records[len(records)-1].line, err)
		}
		return nil
	})
}

// pass reads all lines in batches of one entity.
func (im *Import) pass(ctx context.Context, from io.Reader, write func(*Entity, []Record) error) (ImportResult, error) {
	p := importPass{
		Import: im, ids: map[Ref]bool{}, values: map[uniqueValue]int{},
		result: ImportResult{Written: map[string]int{}, Skipped: map[string]int{}},
	}
	in := bufio.NewScanner(from)
	// A longer line is an error instead of an allocation of its size.
	in.Buffer(nil, maxLineBytes)
	var last *Entity
	var batch []Record
	flush := func() error {
		kept, err := p.check(ctx, last, batch)
		if err == nil && write != nil && len(kept) > 0 {
			err = write(last, kept)
		}
		batch = nil
		return err
	}
	n := 1
	for ; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		e, r, err := parseLine(in.Bytes())
		r.line = n
		if err == nil && im.Normalize != nil {
			err = im.Normalize(e, r)
		}
		if err != nil {
			return p.result, refuseLine(n, err)
		}
		if e != last || len(batch) == batchSize {
			// References point to earlier entities only, so one pass can check them.
			if last != nil && slices.Index(Entities, e) < slices.Index(Entities, last) {
				return p.result, refuseLine(n, fmt.Errorf("%s must come before %s", e.Name, last.Name))
			}
			if err := flush(); err != nil {
				return p.result, err
			}
			last = e
		}
		batch = append(batch, r)
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return p.result, refuseLine(n, fmt.Errorf("the line has more than %d bytes", maxLineBytes))
	}
	if err := in.Err(); err != nil {
		return p.result, fmt.Errorf("document: import: %w", err)
	}
	return p.result, flush()
}

// refuseLine returns the fault of a line that is refused whatever OnConflict is.
func refuseLine(n int, err error) error {
	return fault.Newf(fault.Invalid, "import_invalid", "Line %d: %v.", n, err)
}

// importPass is one pass over the lines, with the ids and unique values read so far.
type importPass struct {
	*Import
	ids    map[Ref]bool        // ids of the lines so far; false if skipped and missing in SQL
	values map[uniqueValue]int // line of each unique value
	result ImportResult
}

// uniqueValue is a value that at most one line may have.
type uniqueValue struct {
	index  *Index // nil for UniqueTogether
	entity *Entity
	text   string
}

// check finds conflicts and missing references of a batch and returns the records to write.
func (p *importPass) check(ctx context.Context, e *Entity, batch []Record) ([]Record, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	conflicts, err := p.findConflicts(ctx, e, batch)
	if err != nil {
		return nil, err
	}
	for i, r := range batch {
		p.ids[Ref{e, r.ID}] = p.OnConflict != Skip || conflicts[i].reason == "" || conflicts[i].exists
	}
	if err := p.checkReferences(ctx, e, batch); err != nil {
		return nil, err
	}
	var kept []Record
	for i, r := range batch {
		p.result.Lines++
		if conflicts[i].reason != "" && p.OnConflict == Skip {
			p.result.Skipped[e.Name]++
			continue
		}
		p.result.Written[e.Name]++
		kept = append(kept, r)
	}
	return kept, nil
}

// findConflicts returns for each record what exists already. It returns an error where conflicts are refused.
func (p *importPass) findConflicts(ctx context.Context, e *Entity, batch []Record) ([]conflict, error) {
	ids := make([]string, len(batch))
	for i, r := range batch {
		ids[i] = r.ID
		if _, twice := p.ids[Ref{e, r.ID}]; twice {
			return nil, refuseLine(r.line, fmt.Errorf("%s %s is in the file twice", e.Name, r.ID))
		}
		p.ids[Ref{e, r.ID}] = true
	}
	existing, err := p.Target.Read(ctx, e, ids)
	if err != nil {
		return nil, err
	}
	exists := seq.Index(existing, func(d Document) string { return d.ID })
	found := make([]conflict, len(batch))
	for i, r := range batch {
		if _, ok := exists[r.ID]; ok {
			found[i] = conflict{e.Name + " " + r.ID + " already exists", true}
		}
	}
	for _, x := range e.Indexes {
		if !x.Unique {
			continue
		}
		if err := p.checkUnique(ctx, e, x, batch, found); err != nil {
			return nil, err
		}
	}
	if err := p.checkDuplicates(ctx, e, batch, found); err != nil {
		return nil, err
	}
	for i, c := range found {
		if c.reason != "" && p.OnConflict == Refuse {
			return nil, refuseConflict(batch[i].line, c.reason)
		}
	}
	return found, nil
}

// conflict is the reason why a record conflicts with existing data; reason is empty for none.
type conflict struct {
	reason string
	exists bool // a row with the id exists
}

// refuseConflict returns the fault of a line that conflicts with existing data; with OnConflict Skip it would be left
// out.
func refuseConflict(n int, why string) error {
	return fault.Newf(fault.Conflict, "import_conflict", "Line %d: %s.", n, why)
}

// checkDuplicates finds rows with the same combination of unique fields, in SQL or in the file.
func (p *importPass) checkDuplicates(ctx context.Context, e *Entity, batch []Record, found []conflict) error {
	if len(e.UniqueTogether) == 0 {
		return nil
	}
	owners, err := p.Target.Duplicates(ctx, e, batch)
	if err != nil {
		return err
	}
	last := len(e.UniqueTogether) - 1
	what := strings.Join(e.UniqueTogether[:last], ", ") + " and " + e.UniqueTogether[last]
	for i, r := range batch {
		v := uniqueValue{entity: e}
		for at, f := range e.Fields {
			if slices.Contains(e.UniqueTogether, f.Name) {
				text, _ := r.Row[at].lookupValue(f)
				v.text += text + "\x00"
			}
		}
		if err := p.checkValue(r, v, what, owners[r.ID], &found[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkUnique finds unique values that belong to another document, in SQL or in the file. They cannot be replaced.
func (p *importPass) checkUnique(ctx context.Context, e *Entity, x *Index, batch []Record, found []conflict) error {
	texts := make([]string, len(batch))
	for i := range batch {
		if v, ok := batch[i].Row[x.field].lookupValue(e.Fields[x.field]); ok {
			texts[i] = x.Lookup(v)
		}
	}
	owners, err := p.Target.Owners(ctx, e, x, texts)
	if err != nil {
		return err
	}
	for i, r := range batch {
		if texts[i] == "" {
			continue
		}
		v := uniqueValue{index: x, entity: e, text: texts[i]}
		if err := p.checkValue(r, v, x.Field, owners[texts[i]], &found[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkValue refuses a unique value that an earlier line of the file has, and records values that belong to another
// row. Only omitting the record resolves such a conflict, so Replace refuses it.
func (p *importPass) checkValue(r Record, v uniqueValue, what, owner string, c *conflict) error {
	if first, twice := p.values[v]; twice {
		return refuseLine(r.line, fmt.Errorf("the %s is that of line %d too", what, first))
	}
	p.values[v] = r.line
	if owner == "" || owner == r.ID {
		return nil
	}
	if c.reason = fmt.Sprintf("the %s belongs to %s %s", what, v.entity.Name, owner); p.OnConflict == Replace {
		return refuseConflict(r.line, c.reason)
	}
	return nil
}

// checkReferences finds referenced rows that are neither in SQL nor in the file.
func (p *importPass) checkReferences(ctx context.Context, e *Entity, batch []Record) error {
	missing := map[*Entity][]string{}
	missed := map[Ref]bool{}
	for _, r := range batch {
		for _, ref := range r.refs(e) {
			if !missed[ref] && !p.ids[ref] {
				missing[ref.Entity] = append(missing[ref.Entity], ref.ID)
				missed[ref] = true
			}
		}
	}
	for of, ids := range missing {
		docs, err := p.Target.Read(ctx, of, ids)
		if err != nil {
			return err
		}
		for _, d := range docs {
			delete(missed, d.Ref())
		}
	}
	for _, r := range batch {
		for _, ref := range r.refs(e) {
			if missed[ref] {
				return refuseLine(r.line, fmt.Errorf("%s %s does not exist", ref.Entity.Name, ref.ID))
			}
		}
	}
	return nil
}

// refs returns the rows to which a record refers.
func (r Record) refs(e *Entity) []Ref {
	var refs []Ref
	for i, f := range e.Fields {
		if f.Refers == "" {
			continue
		}
		if f.Kind == Members {
			for _, id := range r.Members[f.Name] {
				refs = append(refs, Ref{ByName(f.Refers), id})
			}
		} else if id, ok := r.Row[i].lookupValue(f); ok {
			refs = append(refs, Ref{ByName(f.Refers), id})
		}
	}
	return refs
}

var errExportOnly = errors.New("orders are not imported; they come back with a backup")

// parseLine parses a line strictly: no unknown fields, none missing, every value of its kind.
func parseLine(text []byte) (*Entity, Record, error) {
	var l exportLine
	if err := strictjson.Decode(text, &l); err != nil {
		return nil, Record{}, err
	}
	e := ByName(l.Entity)
	if e == nil {
		return nil, Record{}, fmt.Errorf("%q is not an entity", l.Entity)
	}
	if e.ExportOnly {
		return nil, Record{}, errExportOnly
	}
	r, err := e.parse(l)
	return e, r, err
}
