package identitysql

import (
	"context"
	"time"

	"comanda/internal/identity"
	"comanda/internal/sqldb"
)

// maxSetupCodes is how many set-up codes are good at a time: one for each process that was started, and some more.
const maxSetupCodes = 8

// Offer keeps the hash of a set-up code while the house has no owner.
func (s *People) Offer(ctx context.Context, hash string, now time.Time) (needed bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if err := lockRoles(ctx, tx); err != nil {
			return err
		}
		if needed, err = noOwner(ctx, tx); err != nil || !needed {
			return err
		}
		tx.Queue(staffSetupPut, setupName(hash), now.UnixMilli())
		tx.Queue(staffSetupTrim, maxSetupCodes)
		return nil
	})
	return needed, err
}

func setupName(hash string) string { return "setup:" + hash }

func noOwner(ctx context.Context, tx sqldb.Tx) (bool, error) {
	rows, err := tx.Query(ctx, adminOwnerCount, 0)
	n, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	return n == 0, err
}

// Offered tells whether a code is one that was offered.
func (s *People) Offered(ctx context.Context, hash string) (bool, error) {
	return offered(ctx, s.db, hash)
}

func offered(ctx context.Context, conn sqldb.Conn, hash string) (bool, error) {
	rows, err := conn.Query(ctx, staffSetupSelect, setupName(hash))
	_, found, err := sqldb.One(rows, err, sqldb.Value[string])
	return found, err
}

// SetUp makes the first owner by a code.
func (s *People) SetUp(
	ctx context.Context, hash string, u identity.User, from identity.Caller,
) (made identity.User, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if err := lockRoles(ctx, tx); err != nil {
			return err
		}
		good, err := offered(ctx, tx, hash)
		if err != nil {
			return err
		}
		free, err := noOwner(ctx, tx)
		if err != nil {
			return err
		}
		if !good || !free {
			return identity.ErrSetup
		}
		if made, err = InsertUser(ctx, tx, u); err != nil {
			return err
		}
		tx.Queue(staffSetupClear)
		by := identity.System()
		by.Request, by.Address = from.Request, from.Address
		d := decision{tx: tx, by: by, now: u.CreatedAt}
		return Record(ctx, tx, d.did(identity.ActionUserCreated, made.ID).To(standing{u.Role, nil, u.Status}))
	})
	return made, Explain(ctx, s.db, u, err)
}
