package documentsql_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/cart"
	"comanda/internal/catalog"
	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/document/documenttest"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/text"
)

// insertAll inserts some rows of every entity that can be imported, and an order.
func insertAll(t *testing.T, h documenttest.Writer) {
	t.Helper()
	ctx := t.Context()
	testenv.NoError(t, h.PutRole(ctx, 1, "USER"), h.PutRole(ctx, 2, "Chef"), h.PutPermission(ctx, 1, "See"),
		h.PutPermission(ctx, 7, "Cook"),
		h.Grant(ctx, 2, 1, true), h.Grant(ctx, 2, 7, true),
		h.PutUser(ctx, documenttest.User{ID: 3, Username: "an", Email: "an@example.com", Phone: "+8490", Google: "G1", Role: 2, City: "Huế"}),
		h.PutUser(ctx, documenttest.User{ID: 3, Username: "an", Email: "an@example.com", Phone: "+8490", Google: "G1", Role: 2, City: "Hanoi"}),
		h.PutUser(ctx, documenttest.User{ID: 12, Role: 1, Registered: true}),
		h.PutCategory(ctx, 1, "Món \"chính\" <b>"), h.PutDish(ctx, 5, 1, "Phở"), h.PutDish(ctx, 6, 1, "Bún"),
		h.PutCart(ctx, 4, 3), h.PutDetail(ctx, 8, 4, 5, 2), h.PutDetail(ctx, 9, 4, 6, 1),
		h.PutOrder(ctx, "06gvt0kfe5o015mr1000000001", "PLACED", 3, "A1"), h.PutLine(ctx, "06gvt0kfe5o015mr1000000001", 1, 5))
}

func export(t *testing.T, s *documentsql.Store, entities []*document.Entity) string {
	t.Helper()
	var out bytes.Buffer
	n := testenv.Must(document.Export(t.Context(), s, entities, &out, nil))(t)
	if lines := strings.Count(out.String(), "\n"); n != lines {
		t.Errorf("%d documents in %d lines", n, lines)
	}
	return out.String()
}

// importLines imports lines.
func importLines(t *testing.T, s *documentsql.Store, lines string, on document.OnConflict) (document.ImportResult, error) {
	t.Helper()
	im := document.Import{Target: s, OnConflict: on}
	return im.Run(t.Context(), strings.NewReader(lines))
}

// An imported export is exported again byte for byte, from either engine to either engine.
func TestImport_then_export_is_identical(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		insertAll(t, h)
		lines := export(t, s, document.Importable())
		if strings.Contains(lines, "a secret") || strings.Count(lines, "\n") != 12 {
			t.Errorf("the export is\n%s", lines)
		}
		onEach(t, func(t *testing.T, other *documentsql.Store, target documenttest.Writer) {
			checked, err := (&document.Import{Target: other, DryRun: true}).Run(t.Context(), strings.NewReader(lines))
			testenv.NoError(t, err)
			if export(t, other, document.Entities) != "" {
				t.Error("a check has written")
			}
			result := testenv.Must(importLines(t, other, lines, ""))(t)
			testenv.Equal(t, lines, export(t, other, document.Importable()))
			want := document.ImportResult{Lines: 12, Skipped: map[string]int{}, Written: map[string]int{
				"role": 2, "permission": 2, "user": 2, "category": 1, "dish": 2, "cart": 1, "cartDetail": 2,
			}}
			testenv.Equal(t, []document.ImportResult{want, want}, []document.ImportResult{checked, result})
			waiting, err := other.Backlog(t.Context(), time.Now())
			if err != nil || waiting.Pending == 0 {
				t.Errorf("%d rows wait to be projected, %v", waiting.Pending, err)
			}
			wantNewIDs(t, target)
		})
	})
}

// An export is one snapshot: rows that are added or deleted meanwhile do not appear, and every reference in the file
// has its line.
func TestExport_is_one_snapshot(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx := t.Context()
		insertAll(t, h)
		before := export(t, s, document.Importable())
		var out bytes.Buffer
		next := int64(100)
		_, err := document.Export(ctx, s, document.Importable(), &out, func(document.Progress) {
			if next++; next > 110 {
				return // the writer must end even if the export sees its rows
			}
			testenv.NoError(t, h.PutRole(ctx, next, fmt.Sprint("Role ", next)),
				h.PutUser(ctx, documenttest.User{ID: next, Role: next}),
				h.PutCategory(ctx, next, "Neu"), h.PutDish(ctx, next, next, "Neu"),
				h.PutCart(ctx, next, next), h.PutDetail(ctx, next, next, next, 1), h.DeleteDetail(ctx, next-93))
		})
		testenv.NoError(t, err)
		if d := cmp.Diff(before, out.String()); d != "" || next < 104 {
			t.Error(d)
		}
		onEach(t, func(t *testing.T, other *documentsql.Store, _ documenttest.Writer) {
			testenv.Must(importLines(t, other, out.String(), document.Refuse))(t)
			testenv.Equal(t, before, export(t, other, document.Importable()))
		})
	})
}

// wantNewIDs fails the test unless new ids continue after the imported ones.
func wantNewIDs(t *testing.T, h documenttest.Writer) {
	t.Helper()
	for table, want := range map[string]int64{"role": 3, "app_user": 13, "dish": 7} {
		insert := map[string]string{
			"role":     "INSERT INTO role (name, created_at, updated_at) VALUES ('next', 0, 0) RETURNING id",
			"app_user": "INSERT INTO app_user (role_id, status, created_at, updated_at) VALUES (1, 'ACTIVE', 0, 0) RETURNING id",
			"dish":     "INSERT INTO dish (category_id, names, descriptions) VALUES (1, '{}', '{}') RETURNING id",
		}[table]
		testenv.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			id, err := sqldb.Scalar[int64](ctx, tx, documenttest.Statement(insert))
			if id != want {
				t.Errorf("the next %s is %d; want %d", table, id, want)
			}
			return err
		}))
	}
}

// Orders are exported on request, and never imported.
func TestImport_no_orders(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		insertAll(t, h)
		all := export(t, s, document.Entities)
		if !strings.Contains(all, `{"entity":"orderDetail","id":"06gvt0kfe5o015mr1000000001-1",`) {
			t.Error(all)
		}
		orders := export(t, s, []*document.Entity{document.Order})
		_, err := importLines(t, s, orders, document.Replace)
		wantRefusal(t, err, "import_invalid", "Line 1: orders are not imported")
	})
}

func wantRefusal(t *testing.T, err error, code, detail string) {
	t.Helper()
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok || refusal.Code != code || !strings.Contains(refusal.Detail, detail) {
		t.Errorf("refused with %v; want %s: %s", err, code, detail)
	}
}

const (
	roleLine  = `{"entity":"role","id":"50","document":{"id":"50","name":"New","createdAt":null,"updatedAt":null,"version":1}}` + "\n"
	dishLine  = `{"entity":"dish","id":"60","document":{"id":"60","categoryId":"1","names":{"vi":"x"},"imageUrl":null,"createdAt":null,"updatedAt":null,"version":1}}` + "\n"
	userStart = `{"entity":"user","id":"70","document":{"id":"70","roleId":"1","accountStatus":"ACTIVE","createdAt":null,"updatedAt":null,"version":1`
	cartStart = `{"entity":"cart","id":"80","document":{"id":"80","createdAt":null,"updatedAt":null,"version":1,"userId":`
	itemStart = `{"entity":"cartDetail","id":"90","document":{"id":"90","version":1,"cartId":"4","dishId":`
	permStart = `{"entity":"permission","id":"51","document":{"id":"51","name":"n","module":"m","createdAt":null,"updatedAt":null,"version":1,`
)

// refused are lines that an import refuses. Each follows a valid line, which must not be written either.
var refused = []struct{ name, line, code, detail string }{
	{"no JSON", `hello`, "import_invalid", `Line 2: column 1: expected a value, found "h".`},
	{"half a line", `{"entity":"user"`, "import_invalid", "Line 2: column 17: the JSON is incomplete."},
	{"too long", strings.Repeat(" ", 1<<20) + roleLine, "import_invalid", "Line 2: the line has more than 1048576 bytes."},
	{"two values", `{} {}`, "import_invalid", "more than one value"},
	{"a bracket too many", roleLine[:len(roleLine)-1] + "]", "import_invalid", "Line 2: there is more than one value"},
	{"no object", `[]`, "import_invalid", "Line 2: an object is expected, not array."},
	{"entity as a number", `{"entity":5}`, "import_invalid", "Line 2: a text is expected in entity, not number."},
	{"relations as a list", strings.Replace(roleLine, `}}`, `},"relations":[5]}`, 1), "import_invalid", "Line 2: relations: it is not an object of lists of ids."},
	{"ids as numbers", strings.Replace(roleLine, `}}`, `},"relations":{"permissionIds":[5]}}`, 1), "import_invalid", "Line 2: relations: it is not an object of lists of ids."},
	{"unknown entity", `{"entity":"voucher","id":"1","document":{}}`, "import_invalid", `"voucher" is not an entity`},
	{"unknown part", `{"entity":"user","id":"1","document":{},"secret":1}`, "import_invalid", `unknown field "secret"`},
	{"no document", `{"entity":"user","id":"1","document":[]}`, "import_invalid", "is not an object"},
	{"null document", `{"entity":"user","id":"1","document":null}`, "import_invalid", "is not an object"},
	{"unknown field", userStart + `,"password":"x"}}`, "import_invalid", "user has no password"},
	{"unknown relation", userStart + `},"relations":{"friends":["1"]}}`, "import_invalid", "user has no friends"},
	{"missing field", `{"entity":"user","id":"1","document":{"id":"1"}}`, "import_invalid", "roleId: it is missing"},
	{"another id", strings.Replace(userStart, `"id":"70","document"`, `"id":"71","document"`, 1) + `}}`, "import_invalid", "the id of the document is 70"},
	{"id with a zero", strings.ReplaceAll(userStart, `"70"`, `"070"`) + `}}`, "import_invalid", `"070" is not an id`},
	{"id as a number", strings.ReplaceAll(userStart, `"70"`, `70`) + `}}`, "import_invalid", "Line 2"},
	{"version 0", strings.Replace(userStart, `"version":1`, `"version":0`, 1) + `}}`, "import_invalid", "version: 0 is not between 1 and"},
	{"version that no change can follow", strings.Replace(userStart, `"version":1`, `"version":9223372036854775807`, 1) + `}}`, "import_invalid", "version: 9223372036854775807 is not between 1 and"},
	{"version of a cart line", strings.Replace(itemStart, `"version":1`, `"version":1000000000001`, 1) + `"5","quantity":1,"price":1}}`, "import_invalid", "version: 1000000000001 is not between 1 and"},
	{"version as text", strings.Replace(userStart, `"version":1`, `"version":"1"`, 1) + `}}`, "import_invalid", "version: it is not a whole number"},
	{"text as a number", userStart + `,"email":5}}`, "import_invalid", "email: it is not a text"},
	{"number with a fraction", userStart + `,"age":1.5}}`, "import_invalid", "age: it is not a whole number"},
	{"number too large", userStart + `,"trustScore":3000000000}}`, "import_invalid", "trustScore: 3000000000 is not between"},
	{"too old", userStart + `,"age":200}}`, "import_invalid", "age: 200 is not between 0 and 150"},
	{"flag as text", userStart + `,"registered":"no"}}`, "import_invalid", "registered: it is neither"},
	{"instant as a number", strings.Replace(userStart, `"createdAt":null`, `"createdAt":5`, 1) + `}}`, "import_invalid", "createdAt: it is not an instant"},
	{"unknown word", userStart + `,"gender":"YES"}}`, "import_invalid", `gender: "YES" is none of MALE, FEMALE, OTHER`},
	{"object as text", userStart + `,"profile":"x"}}`, "import_invalid", "profile: it is not an object"},
	{"character 0", userStart + `,"city":"a\u0000b"}}`, "import_invalid", "city: it has a character of code 0"},
	{"character 0 in an object", userStart + `,"profile":{"a":"\u0000"}}}`, "import_invalid", "profile: it has a character of code 0"},
	{"an escape sequence", userStart + `,"city":"\u001b[2J"}}`, "import_invalid", "city: " + text.ErrControl.Error()},
	{"a name of two lines", strings.Replace(dishLine, `"x"`, `"x\ny"`, 1), "import_invalid", "names: vi: " + text.ErrOneLine.Error()},
	{"a name that is a number", strings.Replace(dishLine, `"x"`, `5`, 1), "import_invalid", "names: vi: it is not a text"},
	{"an override", strings.Replace(dishLine, `"imageUrl"`, `"descriptions":{"vi":"\u202egpj"},"imageUrl"`, 1), "import_invalid", "descriptions: vi: " + text.ErrDirection.Error()},
	{"an invisible name", strings.Replace(roleLine, `"New"`, `"\u200b"`, 1), "import_invalid", "name: " + text.ErrInvisible.Error()},
	{"relation that is none", strings.Replace(roleLine, `}}`, `},"relations":{"permissionIds":["x"]}}`, 1), "import_invalid", `permissionIds: "x" is not an id`},
	{"no such role", strings.Replace(userStart, `"roleId":"1"`, `"roleId":"99"`, 1) + `}}`, "import_invalid", "role 99 does not exist"},
	{"no such permission", strings.Replace(strings.NewReplacer("50", "52", "New", "Newer").Replace(roleLine), `}}`, `},"relations":{"permissionIds":["99"]}}`, 1), "import_invalid", "permission 99 does not exist"},
	{"no such category", strings.Replace(dishLine, `"categoryId":"1"`, `"categoryId":"9"`, 1), "import_invalid", "category 9 does not exist"},
	{"nothing of a dish", itemStart + `"5","quantity":0,"price":1}}`, "import_invalid", "quantity: 0 is not between"},
	{"more of a dish than a cart holds", itemStart + fmt.Sprintf(`"5","quantity":%d,"price":1}}`, cart.MaxQuantity+1), "import_invalid", "quantity: 21 is not between"},
	{"dearer than a menu can be", itemStart + fmt.Sprintf(`"5","quantity":1,"price":%d}}`, catalog.MaxPrice+1), "import_invalid", "price: 1000000001 is not between"},
	{"a gift", itemStart + `"5","quantity":1,"price":-1}}`, "import_invalid", "price: -1 is not between"},
	{"twice in the file", roleLine, "import_invalid", "role 50 is in the file twice"},
	{"value twice in the file", strings.ReplaceAll(roleLine, "50", "52"), "import_invalid", "the name is that of line 1 too"},
	{"before what it refers to", userStart + `}}` + "\n" + strings.ReplaceAll(roleLine, "50", "52"), "import_invalid", "role must come before user"},
	{"id taken", strings.ReplaceAll(userStart, `"70"`, `"3"`) + `}}`, "import_conflict", "user 3 already exists"},
	{"e-mail taken", userStart + `,"email":" AN@example.com"}}`, "import_conflict", "the email belongs to user 3"},
	{"has a cart", cartStart + `"3"}}`, "import_conflict", "the userId belongs to cart 4"},
	{"dish in the cart", itemStart + `"5","quantity":1,"price":1}}`, "import_conflict", "the cartId, dishId and options belongs to cartDetail 8"},
	{"route taken", permStart + `"apiPath":"/api/7","method":"GET"}}`, "import_conflict", "the apiPath and method belongs to permission 7"},
	{
		"same route twice", permStart + `"apiPath":"/x","method":"GET"}}` + "\n" + strings.ReplaceAll(permStart, `"51"`, `"52"`) + `"apiPath":"/x","method":"GET"}}`,
		"import_invalid", "the apiPath and method is that of line 2 too",
	},
}

// Every invalid line is reported with its number, and nothing is written.
func TestImport_refuses(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		insertAll(t, h)
		before := export(t, s, document.Entities)
		for _, r := range refused {
			t.Run(r.name, func(t *testing.T) {
				sound := roleLine
				if strings.HasPrefix(r.line, permStart) {
					sound = strings.ReplaceAll(permStart, `"51"`, `"49"`) + `"apiPath":"/y","method":"GET"}}` + "\n"
				}
				_, err := importLines(t, s, sound+r.line+"\n", document.Refuse)
				wantRefusal(t, err, r.code, r.detail)
				testenv.Equal(t, before, export(t, s, document.Entities))
			})
		}
	})
}

// Imported texts are normalized as by the routes: trimmed, in NFC, with line feeds. Two spellings of one username are
// the same.
func TestImport_cleans_texts(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		insertAll(t, h)
		_, err := importLines(t, s, strings.Replace(dishLine, `{"vi":"x"}`,
			`{"vi":" Pho\u031b\u0309 ","en":"<Noodles>"},"descriptions":{"vi":"a\r\nb"}`, 1), document.Refuse)
		testenv.NoError(t, err)
		got := export(t, s, []*document.Entity{document.ByName("dish")})
		for _, want := range []string{`"names":{"en":"<Noodles>","vi":"Phở"}`, `"descriptions":{"vi":"a\nb"}`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is not in %s", want, got)
			}
		}
		_, err = importLines(t, s, userStart+`,"username":"\u200ban\u200b"}}`, document.Refuse)
		wantRefusal(t, err, "import_conflict", "the username belongs to user 3")
	})
}

// An empty text in place of a missing unique value is no value, so that several accounts can lack it. What must have one is
// refused.
func TestImport_empty_unique_texts(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		insertAll(t, h)
		const lacking = `,"username":"","email":" ","phone":"","deviceId":"","googleId":""}}` + "\n"
		lines := userStart + lacking + strings.ReplaceAll(userStart, `"70"`, `"71"`) + lacking
		result, err := importLines(t, s, lines, document.Refuse)
		if testenv.NoError(t, err); result.Written["user"] != 2 {
			t.Errorf("import = %+v, want two users written", result)
		}
		got := export(t, s, []*document.Entity{document.User})
		if want := `"username":null,"email":null,"phone":null,"deviceId":null,"googleId":null`; strings.Count(got, want) < 2 {
			t.Errorf("%s is not in both accounts of %s", want, got)
		}
		_, err = importLines(t, s, strings.Replace(roleLine, `"New"`, `" "`, 1), document.Refuse)
		wantRefusal(t, err, "import_invalid", "name: it is empty")
	})
}

// The largest line that a cart can have is accepted: the bounds of an import are not narrower than those of carts.
func TestImport_largest_line(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		insertAll(t, h)
		testenv.NoError(t, h.DeleteDetail(t.Context(), 8))
		_, err := importLines(t, s, itemStart+fmt.Sprintf(`"5","quantity":%d,"price":%d}}`, cart.MaxQuantity, catalog.MaxPrice), document.Refuse)
		testenv.NoError(t, err)
		docs := testenv.Must(s.Read(t.Context(), document.CartDetail, []string{"90"}))(t)
		if total, _ := document.PeekField(docs[0].JSON, "total"); total != "20000000000" {
			t.Errorf("the line is %s", docs[0].JSON)
		}
	})
}

// Existing rows are kept or replaced by id; unique values of other rows are never taken over.
func TestImport_on_conflict(t *testing.T) {
	changed := strings.ReplaceAll(userStart, `"70"`, `"3"`) + `,"email":"new@example.com","city":"Huế"}}` + "\n"
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		insertAll(t, h)
		before := export(t, s, document.Importable())
		result, err := importLines(t, s, roleLine+changed, document.Skip)
		if testenv.NoError(t, err); result.Written["role"] != 1 || result.Skipped["user"] != 1 {
			t.Errorf("import = %+v, want one role written and one user skipped", result)
		}
		testenv.Equal(t, strings.Count(before, "\n")+1, strings.Count(export(t, s, document.Importable()), "\n"))
		result, err = importLines(t, s, changed, document.Replace)
		if testenv.NoError(t, err); result.Written["user"] != 1 {
			t.Errorf("import = %+v, want one user written", result)
		}
		docs := testenv.Must(s.Read(t.Context(), document.User, []string{"3"}))(t)
		for name, want := range map[string]string{"email": "new@example.com", "city": "Huế", "username": "", "version": "3"} {
			if got, _ := document.PeekField(docs[0].JSON, name); got != want {
				t.Errorf("the %s is %q", name, got)
			}
		}
		_, err = importLines(t, s, userStart+`,"email":"new@example.com"}}`, document.Replace)
		wantRefusal(t, err, "import_conflict", "the email belongs to user 3")
		result, err = importLines(t, s, userStart+`,"email":"new@example.com"}}`, document.Skip)
		if testenv.NoError(t, err); result.Skipped["user"] != 1 || len(result.Written) != 0 {
			t.Errorf("import = %+v, want one user skipped and nothing written", result)
		}
		// The owner of the cart is skipped because of the address, so the cart has no owner.
		_, err = importLines(t, s, userStart+`,"email":"new@example.com"}}`+"\n"+cartStart+`"70"}}`, document.Skip)
		wantRefusal(t, err, "import_invalid", "Line 2: user 70 does not exist")
		before = export(t, s, document.Importable())
		testenv.Must(importLines(t, s, before, document.Skip))(t)
		testenv.Equal(t, before, export(t, s, document.Importable()))
	})
}

// interruptedTarget is a target that runs a function between the last check and the first write.
type interruptedTarget struct {
	*documentsql.Store
	happens func(write func() error) error
}

func (m interruptedTarget) Import(ctx context.Context, e *document.Entity, records []document.Record) error {
	return m.happens(func() error { return m.Store.Import(ctx, e, records) })
}

// A line whose cart is ordered during the import is refused, with all other lines of its transaction.
func TestImport_cart_deleted_meanwhile(t *testing.T) {
	lines := itemStart + `"5","quantity":1,"price":1}}` + "\n" + // sound
		strings.NewReplacer(`"90"`, `"91"`, `"4"`, `"40"`).Replace(itemStart) + `"6","quantity":1,"price":1}}`
	for name, ordered := range map[string]func(t *testing.T, h documenttest.Writer, write func() error) error{
		"before it is written": func(t *testing.T, h documenttest.Writer, write func() error) error {
			testenv.NoError(t, h.DeleteCart(t.Context(), 40))
			return write()
		},
		"as it is written": whileDeleted,
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
				insertAll(t, h)
				testenv.NoError(t, h.DeleteDetail(t.Context(), 8), h.PutCart(t.Context(), 40, 12))
				before := export(t, s, []*document.Entity{document.CartDetail})
				im := document.Import{Target: interruptedTarget{s, func(write func() error) error { return ordered(t, h, write) }}}
				_, err := im.Run(t.Context(), strings.NewReader(lines))
				wantRefusal(t, err, "import_conflict", "import again")
				testenv.Equal(t, before, export(t, s, []*document.Entity{document.CartDetail}))
			})
		})
	}
}

// whileDeleted calls write while another transaction, which has deleted the cart, is open. That transaction commits
// once the writer is blocked by it.
func whileDeleted(t *testing.T, h documenttest.Writer, write func() error) error {
	t.Helper()
	var written error
	over := make(chan struct{})
	testenv.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := tx.Exec(ctx, documenttest.Statement("DELETE FROM cart WHERE id = 40")); err != nil {
			return err
		}
		go func() {
			defer close(over)
			written = write()
		}()
		return untilWaiting(ctx, h.DB, over)
	}))
	<-over
	return written
}

// untilWaiting returns when a session waits for a lock, or when the other transaction has ended. On SQLite sessions
// wait from the start.
func untilWaiting(ctx context.Context, db *sqldb.DB, over <-chan struct{}) error {
	for {
		if waits, err := sqldbtest.Waits(ctx, db); waits || err != nil {
			return err
		}
		select {
		case <-over:
			return nil
		default:
		}
	}
}

// A deleted row is imported with a version after its tombstone, so that its documents are projected.
func TestImport_behind_a_tombstone(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		insertAll(t, h)
		lines := export(t, s, []*document.Entity{document.Cart, document.CartDetail})
		testenv.NoError(t, h.DeleteCart(t.Context(), 4))
		testenv.Must(importLines(t, s, lines, document.Refuse))(t)
		docs, err := s.Read(t.Context(), document.Cart, []string{"4"})
		if err != nil || len(docs) != 1 || docs[0].Version != 3 {
			t.Errorf("cart = %v, %v, want version 3", docs, err)
		}
	})
}

// Many lines are written in several transactions, and exported again unchanged.
func TestImport_many(t *testing.T) {
	h := documenttest.Writer{DB: sqldbtest.SQLite(t)}
	from := documentsql.New(h.DB)
	testenv.NoError(t, h.Fill(t.Context(), 1234, 1))
	lines := export(t, from, document.Importable())
	onEach(t, func(t *testing.T, s *documentsql.Store, _ documenttest.Writer) {
		result := testenv.Must(importLines(t, s, lines, document.Refuse))(t)
		if got := export(t, s, document.Importable()); got != lines || result.Written["user"] != 1234 {
			t.Errorf("import = %+v, want 1234 users, and the same export", result)
		}
		broken := lines[:len(lines)-3] + fmt.Sprintln(`,"x":1}}`)
		if _, err := importLines(t, s, broken, document.Replace); err == nil {
			t.Error("the last of many lines was not checked")
		}
	})
}
