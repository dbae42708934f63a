package visit

import (
	"context"
	"errors"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/uid"
)

// shownOut is how long a phone whose visit the staff have closed is turned away at the same table. Without it the party
// that has just been shown the door would open the next visit by reloading the page. A phone without a token, or one at
// another table, is somebody who sits down.
const shownOut = 2 * time.Minute

// Place is where a QR token leads.
type Place struct {
	TableID  int64
	BranchID int64
	Label    string
	Revoked  bool
	Active   bool
}

// Entry is a guest who comes in.
type Entry struct {
	QR        string
	TableID   int64
	BranchID  int64
	BizDate   string
	VisitID   string // of the visit that is opened if none is
	TokenHash string
	Now       time.Time
}

// Entrance is what the door needs of the store, normally visitsql.
type Entrance interface {
	// Place gives where a token leads, or ErrQRUnknown.
	Place(ctx context.Context, qr string) (Place, error)
	Guest(ctx context.Context, tokenHash string) (g Guest, found bool, err error)
	// Enter opens the table's visit or joins it (V1), and enters the guest, in one transaction; ErrQRRevoked when the
	// token was revoked meanwhile, ErrTableInactive when the table was taken out of use.
	Enter(ctx context.Context, e Entry) (visitID string, err error)
}

// Door lets guests in.
type Door struct {
	Store    Entrance
	Branches Branches
	Guests   *Guests
	Now      func() time.Time
	Scanned  func(result string) // counts scans, by one of ScanResults; may be nil
}

// ScanResults is what may become of a scan: a phone comes in, or is in already; nobody's code, an old one, that of
// a table out of use, or the table that its party was just shown out of; or nobody could tell.
func ScanResults() []string {
	return []string{"entered", "kept", "unknown", "revoked", "inactive", "shown_out", "failed"}
}

// Landed is a guest who is in.
type Landed struct {
	CustomerToken string
	VisitID       string
	TableID       int64
	TableLabel    string
	Branch        catalog.Branch

	kept bool // the token is the one that was sent along
}

// Landing answers a scan. A customer token that is sent along is kept if it belongs to the visit that is open at this
// table; otherwise the phone gets a new one.
func (d *Door) Landing(ctx context.Context, qr, token string) (Landed, error) {
	l, err := d.land(ctx, qr, token)
	if d.Scanned != nil {
		d.Scanned(scanned(l, err))
	}
	return l, err
}

func scanned(l Landed, err error) string {
	switch {
	case errors.Is(err, ErrQRUnknown):
		return "unknown"
	case errors.Is(err, ErrQRRevoked):
		return "revoked"
	case errors.Is(err, ErrTableInactive):
		return "inactive"
	case errors.Is(err, ErrShownOut):
		return "shown_out"
	case err != nil:
		return "failed"
	case l.kept:
		return "kept"
	}
	return "entered"
}

func (d *Door) land(ctx context.Context, qr, token string) (Landed, error) {
	if !formed(qr, qrBytes) {
		return Landed{}, ErrQRUnknown
	}
	p, err := d.Store.Place(ctx, qr)
	if err != nil {
		return Landed{}, err
	}
	if p.Revoked {
		return Landed{}, ErrQRRevoked
	}
	if !p.Active {
		return Landed{}, ErrTableInactive
	}
	b, err := d.Branches.Branch(ctx, p.BranchID)
	if err != nil {
		return Landed{}, err
	}
	now := d.Now()
	g, known, err := d.known(ctx, token, p, now)
	if err != nil {
		return Landed{}, err
	}
	if !known {
		token = NewCustomerToken()
		g = Guest{TokenHash: Hash(token), BranchID: p.BranchID, TableID: p.TableID, VisitOpen: true}
		g.VisitID, err = d.Store.Enter(ctx, Entry{
			QR: qr, TableID: p.TableID, BranchID: p.BranchID, BizDate: b.Calendar().BizDate(now),
			VisitID: uid.New(now), TokenHash: g.TokenHash, Now: now,
		})
		if err != nil {
			return Landed{}, err
		}
	}
	d.Guests.welcome(ctx, token, g, b.AutoClose)
	return Landed{token, g.VisitID, p.TableID, p.Label, b, known}, nil
}

// known looks at the token that a phone has brought. SQL is asked, not the memory: this is the moment at which a visit
// that was closed a second ago must not be taken for open.
func (d *Door) known(ctx context.Context, token string, p Place, now time.Time) (Guest, bool, error) {
	if !formed(token, customerBytes) {
		return Guest{}, false, nil
	}
	g, found, err := d.Store.Guest(ctx, Hash(token))
	if err != nil || !found || g.TableID != p.TableID {
		return Guest{}, false, err
	}
	if !g.VisitOpen && g.Reason == ByStaff && now.Sub(g.ClosedAt) < shownOut {
		return Guest{}, false, ErrShownOut
	}
	return g, g.VisitOpen, nil
}
