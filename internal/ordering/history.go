package ordering

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/stock"
)

// Limits of an imported order.
const (
	maxHistoryLine  = 1 << 20 // bytes
	historyBatch    = 200     // orders per transaction
	maxHistoryLines = stock.MaxLines
	maxHistoryQty   = 10_000

	// HistoryDigest is the digest of imported orders. No request has it, because digests of requests are hashes.
	HistoryDigest = "imported"

	// historyPrefix is the prefix of the stored clientTxnId of imported orders. It begins like those of members, so that no
	// guest can send it, and no member's key continues with a letter. Guests may send every other id, as they always could.
	historyPrefix = memberPrefix + "import:"
)

// HistoryImport takes over closed orders of another system, so that reports and members have their past. An imported
// order is like one that was placed here: it has its hold, its units are counted as used, and its payment and its
// refund have their rows. It publishes no events, sends no e-mail and takes nothing from today's quotas.
type HistoryImport struct {
	Store    HistoryStore
	Branches interface {
		Branch(ctx context.Context, id int64) (catalog.Branch, error)
	}
	Now          func() time.Time
	SkipExisting bool // leave out orders that were imported before, instead of refusing the file
	Check        bool // validate only
}

// HistoryStore writes imported orders; orderingsql.History implements it.
type HistoryStore interface {
	// Dishes returns the names of all dishes, also of retired ones.
	Dishes(ctx context.Context) (map[int64]catalog.Texts, error)
	// Members returns which accounts exist, by id.
	Members(ctx context.Context, ids []int64) (map[int64]bool, error)
	// Existing returns which orders exist, by id, and whether each was imported. An order whose ClientTxnID its branch has
	// exists too: its id contains its time, which may have been corrected.
	Existing(ctx context.Context, orders []*Order) (map[string]bool, error)
	// Numbered returns which of these orders, by id, have a number that another order of their date has.
	Numbered(ctx context.Context, orders []*Order) (map[string]bool, error)
	// AddHistory writes orders, all or none. It sets the ids of their menu items, and the numbers of those without one, which
	// are above the highest ones of the file.
	AddHistory(ctx context.Context, orders []*Order, highest map[stock.Scope]int64) error
}

// HistoryResult is the result of an import; with Check, of one that would write.
type HistoryResult struct {
	Orders   int              `json:"orders"`
	Skipped  int              `json:"skipped"`
	Lines    int              `json:"lines"`  // of the written orders
	Totals   map[string]int64 `json:"totals"` // of the paid orders, by currency, in its smallest unit
	FirstDay string           `json:"firstDate"`
	LastDay  string           `json:"lastDate"`
}

// Run reads the lines twice: the first pass validates all, the second writes a few hundred per transaction. Every error
// names its line. An import that was interrupted is continued by one that skips existing orders.
func (im *HistoryImport) Run(ctx context.Context, from io.ReadSeeker) (HistoryResult, error) {
	dishes, err := im.Store.Dishes(ctx)
	if err != nil {
		return HistoryResult{}, err
	}
	names := newDishNames(dishes)
	highest := map[stock.Scope]int64{}
	r, err := im.pass(ctx, from, names, highest, nil)
	if err != nil || im.Check {
		return r, err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return HistoryResult{}, fault.Wrap("read the file again", err)
	}
	return im.pass(ctx, from, names, highest, func(ctx context.Context, orders []*Order) error {
		return im.Store.AddHistory(ctx, orders, highest)
	})
}

// historyPass is one pass over the lines.
type historyPass struct {
	*HistoryImport
	names   *dishNames
	seen    map[string]int        // line of each order, by its id and by its ClientTxnID, which contains the branch
	numbers map[historyNumber]int // line of each number
	highest map[stock.Scope]int64 // number of each date
	known   map[string]catalog.Branch
	batch   []*Order
	lines   []int // of the batch
	result  HistoryResult
}

// historyNumber is the number of an order, which is unique on its date.
type historyNumber struct {
	scope  stock.Scope
	number int64
}

// pass reads a file once and passes its orders to write in batches. An import makes two passes: the first one only checks,
// so that a problem in the last line leaves nothing behind.
func (im *HistoryImport) pass(
	ctx context.Context, from io.Reader, names *dishNames, highest map[stock.Scope]int64,
	write func(context.Context, []*Order) error,
) (HistoryResult, error) {
	p := historyPass{
		HistoryImport: im, names: names, seen: map[string]int{}, numbers: map[historyNumber]int{}, highest: highest,
		known: map[string]catalog.Branch{}, result: HistoryResult{Totals: map[string]int64{}},
	}
	in := bufio.NewScanner(from)
	in.Buffer(nil, maxHistoryLine)
	n := 1
	for ; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		o, err := p.parse(ctx, in.Bytes())
		if err == nil {
			err = p.unique(o, n)
		}
		if err != nil {
			return p.result, historyError(n, err)
		}
		p.batch, p.lines = append(p.batch, o), append(p.lines, n)
		if len(p.batch) == historyBatch {
			if err := p.flush(ctx, write); err != nil {
				return p.result, err
			}
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return p.result, historyError(n, fmt.Errorf("the line has more than %d bytes", maxHistoryLine))
	}
	if err := in.Err(); err != nil {
		return p.result, fault.Wrap("read the file", err)
	}
	return p.result, p.flush(ctx, write)
}

// unique refuses an order whose id or number an earlier line has.
func (p *historyPass) unique(o *Order, n int) error {
	if before := max(p.seen[o.ID], p.seen[o.ClientTxnID]); before > 0 {
		return fmt.Errorf("the order is that of line %d too", before)
	}
	p.seen[o.ID], p.seen[o.ClientTxnID] = n, n
	if o.Number == 0 {
		return nil
	}
	key := historyNumber{o.Scope, o.Number}
	if before := p.numbers[key]; before > 0 {
		return fmt.Errorf("number %d of %s is that of line %d too", o.Number, o.Scope.Date, before)
	}
	p.numbers[key], p.highest[o.Scope] = n, max(p.highest[o.Scope], o.Number)
	return nil
}

// storeError is an error of the database, which is not the line's.
type storeError struct{ error }

// historyError returns the refusal of a line, or the error of the database.
func historyError(n int, err error) error {
	if s, ok := errors.AsType[storeError](err); ok {
		return s.error
	}
	return fault.Newf(fault.Invalid, "import_invalid", "Line %d: %v.", n, err)
}

// flush checks a batch against the database and writes it.
func (p *historyPass) flush(ctx context.Context, write func(context.Context, []*Order) error) error {
	var users []int64
	for _, o := range p.batch {
		if o.UserID != 0 {
			users = append(users, o.UserID)
		}
	}
	existing, err := p.Store.Existing(ctx, p.batch)
	if err != nil {
		return err
	}
	members, err := p.Store.Members(ctx, users)
	if err != nil {
		return err
	}
	var kept []*Order
	var lines []int // of kept
	for i, o := range p.batch {
		imported, exists := existing[o.ID]
		switch {
		case exists && !imported:
			return historyError(p.lines[i], errors.New("the id is that of an order that was placed here"))
		case exists && !p.SkipExisting:
			return fault.Newf(fault.Conflict, "import_conflict", "Line %d: the order was imported before.", p.lines[i])
		case o.UserID != 0 && !members[o.UserID]:
			return historyError(p.lines[i], fmt.Errorf("the account %d does not exist", o.UserID))
		case exists:
			p.result.Skipped++
			continue
		}
		p.count(o)
		kept, lines = append(kept, o), append(lines, p.lines[i])
	}
	taken, err := p.Store.Numbered(ctx, kept)
	if err != nil {
		return err
	}
	for i, o := range kept {
		if taken[o.ID] {
			return fault.Newf(fault.Conflict, "import_conflict",
				"Line %d: number %d of %s is that of an existing order.", lines[i], o.Number, o.Scope.Date)
		}
	}
	if write != nil && len(kept) > 0 {
		if err := write(ctx, kept); err != nil {
			return fmt.Errorf("lines %d to %d: %w", p.lines[0], p.lines[len(p.lines)-1], err)
		}
	}
	p.batch, p.lines = nil, nil
	return nil
}

func (p *historyPass) count(o *Order) {
	r := &p.result
	r.Orders++
	r.Lines += len(o.Items)
	if o.PaymentStatus == Paid {
		r.Totals[string(o.Currency)] += o.Total
	}
	if r.FirstDay == "" || o.Scope.Date < r.FirstDay {
		r.FirstDay = o.Scope.Date
	}
	r.LastDay = max(r.LastDay, o.Scope.Date)
}
