package accountsql

import (
	"context"
	"encoding/base64"
	"fmt"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
)

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
