// Package documenttest writes rows of all nine models as the packages that own them do: each in a transaction that
// also queues the change for the projector.
package documenttest

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"strconv"
	"testing"
	"testing/fstest"

	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

//go:embed sql/*.sql
var files embed.FS

var stmts = func() *sqldb.Stmts {
	sub, err := fs.Sub(files, "sql")
	if err != nil {
		panic(err)
	}
	return sqldb.Load(sub)
}()

// Writer writes the rows of documents to a database.
type Writer struct{ DB *sqldb.DB }

// User is an account; empty values are NULL.
type User struct {
	ID                                     int64
	Username, Email, Phone, Device, Google string
	Role                                   int64
	Province, City                         string
	Registered                             bool
}

// null returns NULL for an empty text.
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func id(n int64) string { return strconv.FormatInt(n, 10) }

// Write runs a transaction that changes documents of one entity.
func (w Writer) Write(ctx context.Context, entity string, ids []string, fn func(context.Context, sqldb.Tx) error) error {
	return w.DB.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		documentsql.Changed(tx, w.DB.Now(), entity, ids...)
		return nil
	})
}

// undelete continues the versions of a row that was deleted before, as an import does.
func (w Writer) undelete(ctx context.Context, tx sqldb.Tx, e *document.Entity, stmt string, row int64) error {
	deleted, err := documentsql.New(w.DB).Tombstones(ctx, e)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, stmts.Must(stmt), row, deleted[id(row)])
	return err
}

// put runs one statement and queues the documents of one id.
func (w Writer) put(ctx context.Context, entity, ids, stmt string, args ...any) error {
	return w.Write(ctx, entity, []string{ids}, func(ctx context.Context, tx sqldb.Tx) error {
		_, err := tx.Exec(ctx, stmts.Must(stmt), args...)
		return err
	})
}

func (w Writer) now() int64 { return w.DB.Now().UnixMilli() }

// PutUser inserts an account or changes it.
func (w Writer) PutUser(ctx context.Context, u User) error {
	registered := 0
	if u.Registered {
		registered = 1
	}
	return w.Write(ctx, "user", []string{id(u.ID)}, func(ctx context.Context, tx sqldb.Tx) error {
		_, err := tx.Exec(ctx, stmts.Must("user_put"), u.ID, null(u.Username), null(u.Email), null(u.Phone), null(u.Device),
			null(u.Google), u.Role, null(u.Province), null(u.City), registered, w.now())
		if err != nil {
			return err
		}
		return w.undelete(ctx, tx, document.User, "user_revive", u.ID)
	})
}

// PutRole inserts a role or changes it.
func (w Writer) PutRole(ctx context.Context, role int64, name string) error {
	return w.put(ctx, "role", id(role), "role_put", role, name, w.now())
}

// Grant adds a permission to a role, or removes it.
func (w Writer) Grant(ctx context.Context, role, permission int64, give bool) error {
	stmt := "grant_put"
	if !give {
		stmt = "grant_delete"
	}
	return w.Write(ctx, "role", []string{id(role)}, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := tx.Exec(ctx, stmts.Must("role_touch"), role, w.now()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, stmts.Must(stmt), role, permission)
		return err
	})
}

// PutPermission inserts a permission or changes it.
func (w Writer) PutPermission(ctx context.Context, permission int64, name string) error {
	return w.put(ctx, "permission", id(permission), "permission_put", permission, name, "/api/"+id(permission), w.now())
}

// PutCategory inserts a category or changes it.
func (w Writer) PutCategory(ctx context.Context, category int64, name string) error {
	return w.put(ctx, "category", id(category), "category_put", category, names(name), w.now())
}

// OfferDishes puts dishes on the published menu of a branch, which it creates.
func (w Writer) OfferDishes(ctx context.Context, dishes ...int64) error {
	return w.changeOffer(ctx, dishes, func(ctx context.Context, tx sqldb.Tx) error {
		for _, name := range []string{"dish_offer_branch", "dish_offer_menu", "dish_offer_version"} {
			args := []any{w.now()}
			if name == "dish_offer_menu" {
				args = nil
			}
			if _, err := tx.Exec(ctx, stmts.Must(name), args...); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, stmts.Must("dish_offer_item"), sqldb.IDs(dishes)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, stmts.Must("dish_offer_line"), sqldb.IDs(dishes))
		return err
	})
}

// WithdrawDishes takes dishes off the menu of OfferDishes.
func (w Writer) WithdrawDishes(ctx context.Context, dishes ...int64) error {
	return w.changeOffer(ctx, dishes, func(ctx context.Context, tx sqldb.Tx) error {
		_, err := tx.Exec(ctx, stmts.Must("dish_offer_withdraw"), sqldb.IDs(dishes))
		return err
	})
}

func (w Writer) changeOffer(ctx context.Context, dishes []int64, change func(context.Context, sqldb.Tx) error) error {
	return w.Write(ctx, "dish", seq.Map(dishes, id), func(ctx context.Context, tx sqldb.Tx) error {
		if err := change(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, stmts.Must("dish_offer_touch"), sqldb.IDs(dishes))
		return err
	})
}

// PutDish inserts a dish or changes it.
func (w Writer) PutDish(ctx context.Context, dish, category int64, name string) error {
	return w.put(ctx, "dish", id(dish), "dish_put", dish, category, names(name), w.now())
}

func names(name string) string {
	text, _ := json.Marshal(map[string]string{"vi": name, "en": name + " (en)"})
	return string(text)
}

// PutCart creates the cart of an account.
func (w Writer) PutCart(ctx context.Context, cart, user int64) error {
	return w.Write(ctx, "cart", []string{id(cart)}, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := tx.Exec(ctx, stmts.Must("cart_put"), cart, user, w.now()); err != nil {
			return err
		}
		return w.undelete(ctx, tx, document.Cart, "cart_revive", cart)
	})
}

// PutDetail puts a dish into a cart.
func (w Writer) PutDetail(ctx context.Context, detail, cart, dish, quantity int64) error {
	return w.Write(ctx, "cartDetail", []string{id(detail)}, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := tx.Exec(ctx, stmts.Must("detail_put"), detail, cart, dish, quantity); err != nil {
			return err
		}
		return w.undelete(ctx, tx, document.CartDetail, "detail_revive", detail)
	})
}

// DeleteDetail removes a dish from a cart.
func (w Writer) DeleteDetail(ctx context.Context, detail int64) error {
	return w.delete(ctx, "cartDetail", "detail_delete", detail)
}

// DeleteUser deletes an account without references.
func (w Writer) DeleteUser(ctx context.Context, user int64) error {
	return w.delete(ctx, "user", "user_delete", user)
}

// DeleteCart deletes a cart with its lines, as a checkout does.
func (w Writer) DeleteCart(ctx context.Context, cart int64) error {
	return w.DB.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		now := w.DB.Now()
		gone, err := sqldb.Collect(ctx, tx, sqldb.Pair, stmts.Must("detail_delete_cart"), cart)
		if err != nil {
			return err
		}
		for _, g := range gone {
			documentsql.Deleted(tx, now, "cartDetail", id(g[0]), g[1])
		}
		return w.deleteIn(ctx, tx, "cart", "cart_delete", cart)
	})
}

func (w Writer) delete(ctx context.Context, entity, stmt string, row int64) error {
	return w.DB.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error { return w.deleteIn(ctx, tx, entity, stmt, row) })
}

// deleteIn deletes a row and queues its tombstone. A missing row is not an error, so that random histories may delete
// twice.
func (w Writer) deleteIn(ctx context.Context, tx sqldb.Tx, entity, stmt string, row int64) error {
	version, found, err := sqldb.One(ctx, tx, sqldb.Value[int64], stmts.Must(stmt), row)
	if err != nil || !found {
		return err
	}
	documentsql.Deleted(tx, w.DB.Now(), entity, id(row), version)
	return nil
}

// PutOrder inserts an order or changes its status and reference; user 0 is a guest.
func (w Writer) PutOrder(ctx context.Context, order, status string, user int64, ref string) error {
	var of any
	if user != 0 {
		of = user
	}
	return w.put(ctx, "order", order, "order_put", order, status, w.now(), of, null(ref))
}

// PutLine inserts a line of an order and queues the whole order, as ordering does.
func (w Writer) PutLine(ctx context.Context, order string, line, dish int64) error {
	return w.put(ctx, "orderDetail", order, "line_put", order, line, dish)
}

// Fill inserts accounts and orders of three lines without queuing their documents, for large numbers, at least one of
// each.
func (w Writer) Fill(ctx context.Context, users, orders int) error {
	if err := w.PutRole(ctx, 1, "USER"); err != nil {
		return err
	}
	for _, q := range []struct {
		stmt string
		args []any
	}{{"users_fill", []any{users}}, {"orders_fill", []any{orders, users}}, {"lines_fill", nil}} {
		if _, err := w.DB.Exec(ctx, stmts.Must(q.stmt), q.args...); err != nil {
			return err
		}
	}
	return nil
}

// tables lists the tables of all documents. A table stands before those that its rows refer to.
var tables = []string{
	"order_item", "order_info", "cart_detail", "cart", "dish", "category", "app_user", "role_permission", "permission", "role",
	"document_outbox", "document_tombstone", "document_plane",
}

// Clear deletes all rows without queuing anything.
func (w Writer) Clear(ctx context.Context) error {
	for _, table := range tables {
		if _, err := w.DB.Exec(ctx, Statement("DELETE FROM "+table)); err != nil {
			return err
		}
	}
	return nil
}

// Statement compiles a statement, for changes that bypass the product.
func Statement(text string) *sqldb.Stmt {
	return sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(text)}}).Must("it")
}

// Values are fields of a document as text; missing ones are empty, or NULL where allowed.
type Values map[string]string

// Doc returns the document of a row without a database.
func Doc(t testing.TB, e *document.Entity, id string, version int64, v Values) document.Document {
	t.Helper()
	row := make([]document.Cell, len(e.Fields))
	for i, f := range e.Fields {
		text, given := v[f.Name]
		switch {
		case f.Name == "id":
			text, given = id, true
		case f.Name == "version":
			text, given = strconv.FormatInt(version, 10), true
		case f.Kind == document.Members && !given:
			text, given = "[]", true
		}
		if given {
			fill(&row[i], text)
		}
	}
	var buf []byte
	return testenv.Must(e.Document(row, &buf))(t)
}

// fill stores a value in every field of the cell, whatever the kind of column.
func fill(c *document.Cell, text string) {
	c.T, c.PT = text, &text
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		c.N, c.PN = n, &n
	}
}
