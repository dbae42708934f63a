package accountsql

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/sqldb"
)

// maxSetupCodes is the maximum number of valid set-up codes: one per started process, with some to spare.
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
	owners, err := activeOwners(ctx, conn)
	return len(owners) == 0, err
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

// keyNames are the keys that every installation has.
var keyNames = []string{account.TokenKey, account.CodeKey, account.MailKey}

// newSecret returns a new key in its stored form.
func newSecret() string { return base64.StdEncoding.EncodeToString(account.NewKey()) }

// Keys returns the installation's keys and creates missing ones. When several processes start at once, one creates them
// and all read the same.
func Keys(ctx context.Context, db *sqldb.DB) (account.Keys, error) {
	// The statement inserts proposed values for every key, and ignores those of keys that exist.
	_, err := db.Exec(ctx, stmt("secret_insert"), sqldb.NewRowSet(len(keyNames)).
		Text("name", func(i int) string { return keyNames[i] }).
		Text("value", func(int) string { return newSecret() }),
		db.Now().UnixMilli())
	if err != nil {
		return account.Keys{}, err
	}
	return ReadKeys(ctx, db)
}

// ReadKeys returns the installation's current keys. They were created at its first start.
func ReadKeys(ctx context.Context, db *sqldb.DB) (account.Keys, error) {
	all, err := sqldb.Map[string, string](ctx, db, stmt("secret_list"))
	if err != nil {
		return account.Keys{}, err
	}
	byName := map[string]account.Key{}
	for _, n := range keyNames {
		byName[n], _ = base64.StdEncoding.DecodeString(all[n]) // a value that cannot be decoded fails the length check
		if len(byName[n]) != account.KeyBytes {
			return account.Keys{}, fmt.Errorf("accountsql: the installation's key %q is damaged", n)
		}
	}
	return account.Keys{
		Token: byName[account.TokenKey], Code: byName[account.CodeKey], Mail: byName[account.MailKey],
	}, nil
}

// WithdrawTokenKey replaces the key that signs access tokens, and thereby every derived key. Every process refuses
// tokens signed with the old key as soon as it reads the keys again.
func WithdrawTokenKey(ctx context.Context, db *sqldb.DB, by authz.Actor) error {
	if _, err := Keys(ctx, db); err != nil { // creates a missing key first
		return err
	}
	return db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		now := db.Now()
		tx.QueueExactly(1, stmt("secret_replace"), account.TokenKey, newSecret(), now.UnixMilli())
		return auditsql.Record(ctx, tx, audit.NewEntry(by, now, audit.ActionKeyWithdrawn, "key", account.TokenKey, 0))
	})
}
