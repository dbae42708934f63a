package cataloghttp

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/clock"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/menufile"
	"comanda/internal/money"
	"comanda/internal/seq"
)

// The limits of an import. An archive with pictures is large, and each picture takes some tenths of a second.
const (
	maxImports    = 1 // at a time, because a file is held in memory, unpacked
	importUpload  = 5 * time.Minute
	importProcess = 3 * time.Minute
)

// The faults of an import.
var (
	errTooManyImports = &fault.Error{
		Kind: fault.Unavailable, Code: "overloaded", RetryAfter: 5 * time.Second,
		Detail: "Another menu is being imported. Please try again in a moment.",
	}
	errNoMenuFile    = fault.New(fault.Invalid, "menu_file_missing", "The form needs a file named menu or file.")
	errMenuFileLarge = fault.Newf(fault.Invalid, "menu_file_too_large", "A menu file can have at most %d MB.",
		menufile.MaxArchive>>20)
	errMenuUpload = fault.New(fault.Invalid, "menu_file_unreadable", "The upload was interrupted. Please send the file again.")
	errMenuFile   = fault.New(fault.Invalid, "menu_file_problems", "The menu file has problems. Nothing was changed.")
	errFlag       = fault.New(fault.Invalid, "invalid", "dryRun and publish must be true or false.")
	errMenuID     = fault.New(fault.Invalid, "invalid", "menuId must be the id of a menu.")
)

// imports receives menu files.
type imports struct {
	files *catalog.MenuFiles
	slots chan struct{}
}

func (s *staff) registerMenuFiles(a *httpapi.API, ops httpapi.Operations) {
	httpapi.RegisterOutput(ops, "staff-menu-export", "GET /api/branches/{id}/menu/export",
		"Download the menu as a spreadsheet", s.exportMenu, spreadsheets)
	httpapi.RegisterOutput(ops, "staff-menu-template", "GET /api/branches/{id}/menu/template",
		"Download a spreadsheet to fill in, with examples", s.menuTemplate, spreadsheets)
	httpapi.Register(ops, "staff-menu-copy", "POST /api/branches/{id}/menu/copy",
		"Copy the menu of another branch", s.copyMenu)
	httpapi.Register(ops, "staff-menu-templates", "GET /api/branches/{id}/menu/templates",
		"List the menu templates in the branch's currency and languages", s.menuTemplates)
	httpapi.Register(ops, "staff-menu-template-import", "POST /api/branches/{id}/menu/templates",
		"Import a menu template", s.importTemplate)
	i := &imports{s.Files, make(chan struct{}, maxImports)}
	a.Handle(httpapi.Route{
		Pattern: "POST /api/branches/{id}/menu/import", Policy: httpapi.Staff, Module: "MENUS",
		Name: "Import a menu from a spreadsheet", Handler: http.HandlerFunc(i.add), MaxBodyBytes: menufile.MaxArchive + 64<<10,
		Stream: true,
	})
}

// spreadsheets documents the formats of a menu.
func spreadsheets(op *huma.Operation) {
	op.Responses = map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{
		menufile.CSV.ContentType():  {Schema: &huma.Schema{Type: huma.TypeString}},
		menufile.XLSX.ContentType(): {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
	}}}
}

func (i *imports) add(w http.ResponseWriter, r *http.Request) {
	select {
	case i.slots <- struct{}{}:
		defer func() { <-i.slots }()
	default:
		httpapi.Fail(w, r, errTooManyImports)
		return
	}
	result, err := i.receive(w, r)
	if err != nil {
		httpapi.Fail(w, r, err)
		return
	}
	body, _ := json.Marshal(result) // numbers and strings always marshal
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client may be gone
}

// receive imports the file of a request. A dry run returns problems in the result, an import returns them as an error.
func (i *imports) receive(w http.ResponseWriter, r *http.Request) (catalog.MenuImportResult, error) {
	branch, err := httpapi.ParseID(r.PathValue("id"))
	if err != nil {
		return catalog.MenuImportResult{}, catalog.ErrBranch
	}
	var o catalog.ImportOptions
	for name, into := range map[string]*bool{"dryRun": &o.DryRun, "publish": &o.Publish} {
		if s := r.URL.Query().Get(name); s != "" {
			if *into, err = strconv.ParseBool(s); err != nil {
				return catalog.MenuImportResult{}, errFlag
			}
		}
	}
	if s := r.URL.Query().Get("menuId"); s != "" {
		if o.MenuID, err = httpapi.ParseID(s); err != nil {
			return catalog.MenuImportResult{}, errMenuID
		}
	}
	_ = http.NewResponseController(w).SetReadDeadline(clock.In(importUpload)) // fails only if the server supports no deadlines
	raw, err := menuUpload.Read(r)
	if err != nil {
		return catalog.MenuImportResult{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), importProcess)
	defer cancel()
	result, err := i.files.Import(ctx, authz.ActorOf(ctx), branch, raw, o)
	return result, orProblems(result, o, err)
}

// orProblems returns the error of an import, which has written nothing if there are problems.
func orProblems(result catalog.MenuImportResult, o catalog.ImportOptions, err error) error {
	if err == nil && len(result.Problems) > 0 && !o.DryRun {
		return errMenuFile.With("created", 0).With("updated", 0).With("problems", result.Problems)
	}
	return err
}

// menuUpload is the form of a menu file.
var menuUpload = httpapi.Upload{
	Names: []string{"menu", "file"}, Limit: menufile.MaxArchive, Missing: errNoMenuFile, TooLarge: errMenuFileLarge,
	Incomplete: errMenuUpload,
}

type menuFileIn struct {
	ID     int64  `path:"id"`
	Format string `query:"format" enum:"csv,xlsx" default:"csv"`
}

func (in menuFileIn) answer(name string, body []byte, err error) (*httpapi.Bytes, error) {
	if err != nil {
		return nil, err
	}
	f := menufile.Format(in.Format)
	return httpapi.NewDownload(f.ContentType(), "comanda-"+httpapi.FormatID(in.ID)+"-"+name+"."+in.Format, body), nil
}

type menuExportIn struct {
	ID     int64  `path:"id"`
	Format string `query:"format" enum:"csv,xlsx" default:"csv"`
	MenuID int64  `query:"menuId" minimum:"0" doc:"A menu of the branch; if omitted, the oldest published one, else the oldest one."`
}

func (s *staff) exportMenu(ctx context.Context, in *menuExportIn) (*httpapi.Bytes, error) {
	body, err := s.Files.Export(ctx, authz.ActorOf(ctx), in.ID, in.MenuID, menufile.Format(in.Format))
	return menuFileIn{in.ID, in.Format}.answer("menu", body, err)
}

func (s *staff) menuTemplate(ctx context.Context, in *menuFileIn) (*httpapi.Bytes, error) {
	body, err := s.Files.Template(ctx, authz.ActorOf(ctx), in.ID, menufile.Format(in.Format))
	return in.answer("template", body, err)
}

type menuCopy struct {
	From     string `json:"fromBranchId" pattern:"^[1-9][0-9]{0,17}$"`
	FromMenu string `json:"fromMenuId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"If omitted, the branch's oldest published menu, else its oldest one."`
	Menu     string `json:"menuId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"The menu to change; if omitted, chosen like fromMenuId, or a new one."`
	DryRun   bool   `json:"dryRun,omitempty"`
	Publish  bool   `json:"publish,omitempty" doc:"Publishes the draft into which the menu is copied."`
}

func (s *staff) copyMenu(ctx context.Context, in *httpapi.BodyByID[menuCopy]) (catalog.MenuImportResult, error) {
	o := catalog.ImportOptions{DryRun: in.Body.DryRun, Publish: in.Body.Publish, MenuID: httpapi.IDOf(in.Body.Menu)}
	from := catalog.MenuRef{BranchID: httpapi.IDOf(in.Body.From), MenuID: httpapi.IDOf(in.Body.FromMenu)}
	return s.Files.Copy(ctx, authz.ActorOf(ctx), from, in.ID, o)
}

type menuTemplates struct {
	Currency money.Currency `json:"currency"`
	Items    []readyMenu    `json:"items"`
}

type readyMenu struct {
	Name       string      `json:"name" doc:"Such as pho."`
	Dishes     int         `json:"dishes"`
	Categories int         `json:"categories"`
	Items      []readyDish `json:"items" doc:"The dishes by category."`
}

type readyDish struct {
	Category    map[string]string `json:"category" doc:"By locale; the branch's first is never empty."`
	Name        map[string]string `json:"name"`
	Description map[string]string `json:"description"`
	Price       int64             `json:"price" doc:"In minor units of the currency."`
}

func (s *staff) menuTemplates(ctx context.Context, in *httpapi.ByID) (menuTemplates, error) {
	b, all, err := s.Files.OfferedTemplates(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return menuTemplates{}, err
	}
	return menuTemplates{b.Currency, seq.Map(all, func(t catalog.OfferedTemplate) readyMenu {
		return readyMenu{
			t.Name, len(t.Dishes), t.Categories(b.Locales[0]),
			seq.Map(t.Dishes, func(d menufile.DishRow) readyDish {
				return readyDish{d.Category, d.Name, d.Description, d.Price}
			}),
		}
	})}, nil
}

type templateImport struct {
	Name    string `json:"name" pattern:"^[a-z][a-z0-9-]{0,39}$" doc:"As listed, such as bubble-tea."`
	DryRun  bool   `json:"dryRun,omitempty"`
	Publish bool   `json:"publish,omitempty" doc:"Publishes the draft into which the menu is written."`
}

// importTemplate returns problems like import: for a dry run in the result, otherwise as an error.
func (s *staff) importTemplate(
	ctx context.Context, in *httpapi.BodyByID[templateImport],
) (catalog.MenuImportResult, error) {
	o := catalog.ImportOptions{DryRun: in.Body.DryRun, Publish: in.Body.Publish}
	result, err := s.Files.ImportTemplate(ctx, authz.ActorOf(ctx), in.ID, in.Body.Name, o)
	return result, orProblems(result, o, err)
}

// maxRowsBody is enough for catalog.MaxMenuRows dishes with names in five languages, each with its previous values.
const maxRowsBody = 2 << 20

func (s *staff) registerMenuRows(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-menu-write", "PUT /api/branches/{id}/menu/dishes",
		"Add and edit dishes with their prices in a draft", s.writeRows,
		func(op *huma.Operation) { op.MaxBodyBytes = maxRowsBody })
}

// menuRow is a dish with its price. Omitted texts stay as they are.
type menuRow struct {
	DishID       string        `json:"dishId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"If omitted, a new dish is created."`
	CategoryID   string        `json:"categoryId,omitempty" pattern:"^[1-9][0-9]{0,17}$"`
	Names        catalog.Texts `json:"names,omitempty" text:"line"`
	Descriptions catalog.Texts `json:"descriptions,omitempty" text:"lines"`
	ImageID      *string       `json:"imageId,omitempty" text:"exact" maxLength:"64" doc:"Empty removes the image."`
	TaxClass     *string       `json:"taxClass,omitempty" pattern:"^[A-Z0-9_]{0,20}$" doc:"Code of a tax class; empty removes it."`
	DeclarationEdit
	Price      int64         `json:"price" minimum:"0" doc:"In minor units of the branch's currency."`
	DailyQuota *int64        `json:"dailyQuota" doc:"null for none."`
	Before     *menuRowState `json:"before,omitempty" doc:"The values that the client has read. If others are stored by now, nothing is written."`
}

type menuRowState struct {
	CategoryID string        `json:"categoryId" pattern:"^[1-9][0-9]{0,17}$"`
	Names      catalog.Texts `json:"names" text:"line"`
	Price      int64         `json:"price"`
	DailyQuota *int64        `json:"dailyQuota"`
}

type menuRows struct {
	VersionID string    `json:"versionId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"A draft; if omitted, the newest draft or a new one."`
	Publish   bool      `json:"publish,omitempty" doc:"Publishes the draft with all its changes."`
	Dishes    []menuRow `json:"dishes" minItems:"1" maxItems:"500"`
}

type menuRowsDone struct {
	VersionID *string `json:"versionId" doc:"null if nothing had to be written and there is no draft."`
	Created   int     `json:"created"`
	Updated   int     `json:"updated"`
}

func (s *staff) writeRows(ctx context.Context, in *httpapi.BodyByID[menuRows]) (menuRowsDone, error) {
	done, err := s.Files.WriteRows(ctx, authz.ActorOf(ctx), in.ID, catalog.MenuRows{
		VersionID: httpapi.IDOf(in.Body.VersionID), Rows: seq.Map(in.Body.Dishes, menuRow.row), Publish: in.Body.Publish,
	})
	return menuRowsDone{httpapi.IDOrNull(done.VersionID), done.Created, done.Updated}, err
}

func (r menuRow) row() catalog.MenuRow {
	row := catalog.MenuRow{
		DishID: httpapi.IDOf(r.DishID), Names: r.Names, Descriptions: r.Descriptions, Image: r.ImageID, TaxClass: r.TaxClass,
		Declared: r.edit(), Price: r.Price, Quota: r.DailyQuota,
	}
	if r.CategoryID != "" {
		row.CategoryID = new(httpapi.IDOf(r.CategoryID))
	}
	if b := r.Before; b != nil {
		row.Before = &catalog.RowState{CategoryID: httpapi.IDOf(b.CategoryID), Names: b.Names, Price: b.Price, Quota: b.DailyQuota}
	}
	return row
}
