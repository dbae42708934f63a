package accountsql

import (
	"context"
	"time"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/sqldb"
)

// maxSetupCodes is how many set-up codes are valid at once: one per started process, with some to spare.
const maxSetupCodes = 8

// AddCode stores the hash of a set-up code while there is no owner.
func (s *UserAdmin) AddCode(ctx context.Context, hash string, now time.Time) (needed bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if err := authzsql.LockRoles(ctx, tx); err != nil {
			return err
		}
		if needed, err = noOwner(ctx, tx); err != nil || !needed {
			return err
		}
		tx.Queue(stmt("staff_setup_put"), setupName(hash), now.UnixMilli())
		// Without this limit, restarts without an owner would accumulate codes. The newest ones stay.
		tx.Queue(stmt("staff_setup_trim"), maxSetupCodes)
		return nil
	})
	return needed, err
}

// setupName returns the name under which the hash of a set-up code is stored.
func setupName(hash string) string { return "setup:" + hash }

// HasOwner reports whether an active owner exists.
func (s *UserAdmin) HasOwner(ctx context.Context) (bool, error) {
	free, err := noOwner(ctx, s.db)
	return !free, err
}

// noOwner reports whether no active owner exists.
func noOwner(ctx context.Context, conn sqldb.Reader) (bool, error) {
	n, err := sqldb.Scalar[int64](ctx, conn, stmt("admin_owner_count"), 0)
	return n == 0, err
}

// HasCode reports whether a set-up code was stored after a time.
func (s *UserAdmin) HasCode(ctx context.Context, hash string, after time.Time) (bool, error) {
	return hasCode(ctx, s.db, hash, after)
}

func hasCode(ctx context.Context, conn sqldb.Conn, hash string, after time.Time) (bool, error) {
	_, found, err := sqldb.One(ctx, conn, sqldb.Value[string], stmt("staff_setup_select"), setupName(hash), after.UnixMilli())
	return found, err
}

// CreateOwner creates the first owner with a set-up code.
func (s *UserAdmin) CreateOwner(
	ctx context.Context, hash string, after time.Time, u account.User, from account.Caller,
) (made account.User, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The lock serializes concurrent calls: the second one finds an owner.
		if err := authzsql.LockRoles(ctx, tx); err != nil {
			return err
		}
		good, err := hasCode(ctx, tx, hash, after)
		if err != nil {
			return err
		}
		free, err := noOwner(ctx, tx)
		if err != nil {
			return err
		}
		if !good || !free {
			return account.ErrSetup
		}
		if made, err = InsertUser(ctx, tx, u); err != nil {
			return err
		}
		// The first use also deletes the codes of other processes, even those that were printed a moment ago.
		tx.Queue(stmt("staff_setup_clear"))
		by := authz.System()
		by.Request, by.Address = from.Request, from.Address
		d := adminTx{&authzsql.Change{Tx: tx, By: by, Now: u.CreatedAt}}
		return auditsql.Record(ctx, tx,
			d.userEntry(audit.ActionUserCreated, made.ID).WithAfter(auditedUser{u.Role, nil, u.Status}))
	})
	return made, UniqueError(ctx, s.db, u, err)
}
