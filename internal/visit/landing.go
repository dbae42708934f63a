package visit

import (
	"context"
	"errors"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/uid"
)

// rejoinBlock is how long a phone is refused at the same table after the staff have closed its visit. Otherwise the
// party could open the next visit by reloading the page. A phone without a token, or at another table, counts as a new
// guest.
const rejoinBlock = 2 * time.Minute

// QRTarget is the table of a QR token.
type QRTarget struct {
	TableID  int64
	BranchID int64
	Label    string
	Revoked  bool
	Active   bool
}

// OpenRequest describes the visit to open at a table. OpenOrJoin joins the open visit if there is one, as the
// guest with TokenHash; Seat uses neither QR nor TokenHash.
type OpenRequest struct {
	QR        string
	TableID   int64
	BranchID  int64
	BizDate   string
	VisitID   string // id of the visit if one is opened
	TokenHash string
	Now       time.Time
}

// Landing admits guests who scan a table's code.
type Landing struct {
	Store    Store
	Branches Branches
	Guests   *Guests
	Now      func() time.Time
	OnScan   func(result string) // called with one of ScanOutcomes per scan; may be nil
}

// ScanOutcomes returns the label values of the scan metric: admitted, already admitted, an unknown, revoked or inactive
// table's code, refused for rejoinBlock, and failed.
func ScanOutcomes() []string {
	return []string{"entered", "kept", "unknown", "revoked", "inactive", "shown_out", "failed"}
}

// ScanResult is the admitted guest.
type ScanResult struct {
	CustomerToken string
	VisitID       string
	TableID       int64
	TableLabel    string
	Branch        catalog.Branch

	rejoined bool // the phone's token was valid and is kept
}

// Scan admits the phone that scanned a code. It keeps the phone's customer token if that belongs to the open visit at
// this table; otherwise it issues a new one.
func (l *Landing) Scan(ctx context.Context, qr, token string) (ScanResult, error) {
	r, err := l.scan(ctx, qr, token)
	if l.OnScan != nil {
		l.OnScan(scanOutcome(r, err))
	}
	return r, err
}

// scanOutcome returns the result of a scan as the label of its metric.
func scanOutcome(r ScanResult, err error) string {
	switch {
	case errors.Is(err, ErrQRUnknown):
		return "unknown"
	case errors.Is(err, ErrQRRevoked):
		return "revoked"
	case errors.Is(err, ErrTableInactive):
		return "inactive"
	case errors.Is(err, ErrClosedByStaff):
		return "shown_out"
	case err != nil:
		return "failed"
	case r.rejoined:
		return "kept"
	}
	return "entered"
}

// scan checks the QR code, its table and its branch before the token, so that a revoked code is refused even to a phone
// that is a guest of the table already.
func (l *Landing) scan(ctx context.Context, qr, token string) (ScanResult, error) {
	if !wellFormed(qr, qrBytes) {
		return ScanResult{}, ErrQRUnknown
	}
	p, err := l.Store.QRTarget(ctx, qr)
	if err != nil {
		return ScanResult{}, err
	}
	if p.Revoked {
		return ScanResult{}, ErrQRRevoked
	}
	if !p.Active {
		return ScanResult{}, ErrTableInactive
	}
	b, err := l.Branches.Branch(ctx, p.BranchID)
	if err != nil {
		return ScanResult{}, err
	}
	if b.Retired() {
		return ScanResult{}, ErrTableInactive
	}
	// The generation is read before the transaction, see Guests.admit.
	now, closings := l.Now(), l.Guests.closings()
	g, known, err := l.currentGuest(ctx, token, p, now)
	if err != nil {
		return ScanResult{}, err
	}
	if !known {
		// The phone gets a new token even if it sent one: an old token never belongs to another visit (V3).
		token = NewCustomerToken()
		g = Guest{TokenHash: HashToken(token), BranchID: p.BranchID, TableID: p.TableID, VisitOpen: true}
		g.VisitID, err = l.Store.OpenOrJoin(ctx, OpenRequest{
			QR: qr, TableID: p.TableID, BranchID: p.BranchID, BizDate: b.Calendar().BizDate(now),
			VisitID: uid.New(now), TokenHash: g.TokenHash, Now: now,
		})
		if err != nil {
			return ScanResult{}, err
		}
	}
	l.Guests.admit(ctx, token, g, b.AutoClose, closings)
	return ScanResult{token, g.VisitID, p.TableID, p.Label, b, known}, nil
}

// currentGuest returns the guest of the phone's token if its visit is open at this table. It reads SQL and not the
// cache, in which a visit that was just closed may still be open.
func (l *Landing) currentGuest(ctx context.Context, token string, p QRTarget, now time.Time) (Guest, bool, error) {
	if !wellFormed(token, customerBytes) {
		return Guest{}, false, nil
	}
	g, found, err := l.Store.Guest(ctx, HashToken(token))
	// A guest who changed tables is a new guest at the new table; the old visit keeps its orders.
	if err != nil || !found || g.TableID != p.TableID {
		return Guest{}, false, err
	}
	if !g.VisitOpen && g.Reason == ClosedByStaff && now.Sub(g.ClosedAt) < rejoinBlock {
		return Guest{}, false, ErrClosedByStaff
	}
	return g, g.VisitOpen, nil
}
