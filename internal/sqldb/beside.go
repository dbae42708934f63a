package sqldb

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
)

// CreateBeside makes a PostgreSQL database of its own on the server of another one, for work that must not touch that
// one, and gives its address and what drops it. The name must be one that we have made up.
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

// runOnce runs a statement that no transaction may hold, on a connection of its own.
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
