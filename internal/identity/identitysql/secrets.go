package identitysql

import (
	"context"
	"encoding/base64"
	"fmt"

	"comanda/internal/identity"
	"comanda/internal/sqldb"
)

// Keys gives the installation's keys. Those that it does not have yet are made; of several processes that start at the
// same time one makes them and all read them.
func Keys(ctx context.Context, db *sqldb.DB) (identity.Keys, error) {
	names := []string{identity.TokenKey, identity.CodeKey, identity.MailKey}
	_, err := db.Exec(ctx, secretInsert, sqldb.NewRowSet(len(names)).
		Text("name", func(i int) string { return names[i] }).
		Text("value", func(int) string { return base64.StdEncoding.EncodeToString(identity.NewKey()) }),
		db.Now().UnixMilli())
	if err != nil {
		return identity.Keys{}, err
	}
	rows, err := db.Query(ctx, secretList)
	all, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (s [2]string, err error) {
		err = r.Scan(&s[0], &s[1])
		return s, err
	})
	if err != nil {
		return identity.Keys{}, err
	}
	byName := map[string]identity.Key{}
	for _, s := range all {
		byName[s[0]], _ = base64.StdEncoding.DecodeString(s[1]) // a bad one is noticed below
	}
	for _, n := range names {
		if len(byName[n]) != identity.KeyBytes {
			return identity.Keys{}, fmt.Errorf("identitysql: the installation's key %q is damaged", n)
		}
	}
	return identity.Keys{
		Token: byName[identity.TokenKey], Code: byName[identity.CodeKey], Mail: byName[identity.MailKey],
	}, nil
}
