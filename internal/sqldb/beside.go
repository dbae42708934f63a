package sqldb

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
)

// CreateBeside creates a PostgreSQL database on the same server as address, for work that must not touch the original.
// It returns the new database's address and a function that drops it. The name must come from the program, not from a
// user. The benchmark uses it, so that a measurement leaves no orders in the installation's database.
func CreateBeside(ctx context.Context, address, name string) (beside string, drop func(context.Context) error, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", nil, errors.New("sqldb: the PostgreSQL address is not a URL")
	}
	u.Path = "/" + name
	quoted := pgx.Identifier{name}.Sanitize()
	if err := runOnce(ctx, address, "CREATE DATABASE "+quoted); err != nil {
		return "", nil, err
	}
	return u.String(), func(ctx context.Context) error {
		return runOnce(ctx, address, "DROP DATABASE IF EXISTS "+quoted+" WITH (FORCE)")
	}, nil
}

// runOnce runs a statement on a connection of its own, because CREATE and DROP DATABASE cannot run in a transaction.
func runOnce(ctx context.Context, address, statement string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return translate("connect", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, translate("administer", err))
	}
	return nil
}
