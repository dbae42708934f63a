package identitysql

import (
	"context"
	"encoding/base64"
	"fmt"

	"comanda/internal/identity"
	"comanda/internal/sqldb"
)

// keyNames are the keys that every installation has.
var keyNames = []string{identity.TokenKey, identity.CodeKey, identity.MailKey}

func newSecret() string { return base64.StdEncoding.EncodeToString(identity.NewKey()) }

// Keys returns the installation's keys and creates missing ones. When several processes start at once, one creates them
// and all read the same.
func Keys(ctx context.Context, db *sqldb.DB) (identity.Keys, error) {
	_, err := db.Exec(ctx, stmt("secret_insert"), sqldb.NewRowSet(len(keyNames)).
		Text("name", func(i int) string { return keyNames[i] }).
		Text("value", func(int) string { return newSecret() }),
		db.Now().UnixMilli())
	if err != nil {
		return identity.Keys{}, err
	}
	return ReadKeys(ctx, db)
}

// ReadKeys returns the installation's current keys. They were created at its first start.
func ReadKeys(ctx context.Context, db *sqldb.DB) (identity.Keys, error) {
	all, err := sqldb.Collect(ctx, db, func(r sqldb.Rows) (s [2]string, err error) {
		err = r.Scan(&s[0], &s[1])
		return s, err
	}, stmt("secret_list"))
	if err != nil {
		return identity.Keys{}, err
	}
	byName := map[string]identity.Key{}
	for _, s := range all {
		byName[s[0]], _ = base64.StdEncoding.DecodeString(s[1]) // the length check below catches a bad one
	}
	for _, n := range keyNames {
		if len(byName[n]) != identity.KeyBytes {
			return identity.Keys{}, fmt.Errorf("identitysql: the installation's key %q is damaged", n)
		}
	}
	return identity.Keys{
		Token: byName[identity.TokenKey], Code: byName[identity.CodeKey], Mail: byName[identity.MailKey],
	}, nil
}

// WithdrawTokenKey replaces the key that signs access tokens, and with it every derived key. Every process refuses what
// was signed with the old one as soon as it reads the keys again.
func WithdrawTokenKey(ctx context.Context, db *sqldb.DB, by identity.Actor) error {
	if _, err := Keys(ctx, db); err != nil { // creates a missing key first
		return err
	}
	return db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		now := db.Now()
		tx.QueueExactly(1, stmt("secret_replace"), identity.TokenKey, newSecret(), now.UnixMilli())
		return RecordAudit(ctx, tx, identity.NewAuditEntry(by, now, identity.ActionKeyWithdrawn, "key", identity.TokenKey, 0))
	})
}
