package accountsql

import (
	"context"
	"strconv"
	"time"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
)

// TryPin counts an attempt at a PIN and returns its hash.
func (s *Accounts) TryPin(ctx context.Context, user int64) (string, error) {
	var hash string
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) (err error) {
		// One statement checks, counts and reads, so concurrent attempts cannot pass the limit together.
		hash, err = sqldb.Scalar[string](ctx, tx, stmt("pin_try"), user, account.MaxPinFailures)
		return err
	})
	return hash, err
}

// SetPin sets or removes an actor's PIN. It locks the account first, as Begin does before it reads the PIN.
func (s *Accounts) SetPin(ctx context.Context, by authz.Actor, hash string, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := LockUser(ctx, tx, by.UserID); err != nil {
			return err
		}
		if hash == "" {
			n, err := tx.Exec(ctx, stmt("pin_delete"), by.UserID)
			// Without a PIN nothing changed, so there is nothing to audit.
			if err != nil || n == 0 {
				return err
			}
		} else {
			tx.QueueExactly(1, stmt("pin_put"), by.UserID, hash, now.UnixMilli())
		}
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, audit.ActionPin, "user", strconv.FormatInt(by.UserID, 10), 0))
	})
}

// Colleagues returns the staff with a usable PIN.
func (s *Accounts) Colleagues(ctx context.Context, branches []int64, all bool) ([]account.Colleague, error) {
	return sqldb.Collect(ctx, s.db, func(r sqldb.Rows) (c account.Colleague, err error) {
		err = r.Scan(&c.UserID, &c.Name, &c.Role)
		return c, err
	}, stmt("pin_colleagues"), account.MaxPinFailures, sqldb.Flag(all),
		sqldb.IDs(branches))
}
