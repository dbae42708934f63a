package visithttp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/identity"
)

func (s *staff) registerCodes(a *httpapi.API) {
	tags := []string{"Codes"} // a module of its own: whoever has a code sits at the table
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-table-sheet", Method: http.MethodGet, Path: "/api/tables/qr-sheet", Tags: tags,
		Summary: "A sheet of tables' codes to print on A4 and cut", Responses: drawn("text/html", "The sheet."),
	}, httpapi.Staff, s.sheet)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-table-code", Method: http.MethodGet, Path: "/api/tables/{id}/qr.svg", Tags: tags,
		Summary: "The code of one table as an image", Responses: drawn("image/svg+xml", "The code with its quiet zone."),
	}, httpapi.Staff, s.code)
}

// drawn describes bytes, which the contract could not know otherwise.
func drawn(mediaType, what string) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {
		Description: what, Content: map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}

type sheetIn struct {
	BranchID int64   `query:"branchId" required:"true" minimum:"1"`
	TableIDs []int64 `query:"tableIds" maxItems:"200" doc:"With commas between; all that are in use where it is left out."`
}

// drawing is bytes that hold secrets: nobody keeps them.
type drawing struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	CSP          string `header:"Content-Security-Policy"`
	Disposition  string `header:"Content-Disposition"`
	Body         []byte
}

func (s *staff) sheet(ctx context.Context, in *sheetIn) (*drawing, error) {
	b, tables, err := s.floor.Codes(ctx, identity.ActorOf(ctx), in.BranchID, in.TableIDs)
	if err != nil {
		return nil, err
	}
	body, err := sheet(b, tables, s.link, s.floor.Now())
	if err != nil {
		return nil, fault.Wrap("draw a sheet of codes", err)
	}
	return &drawing{"text/html; charset=utf-8", "no-store", sheetCSP, `inline; filename="tables.html"`, body}, nil
}

func (s *staff) code(ctx context.Context, in *rotateIn) (*drawing, error) {
	t, err := s.floor.Code(ctx, identity.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	c, err := newCode(s.link(t))
	if err != nil {
		return nil, fault.Wrap("draw a code", err)
	}
	return &drawing{
		"image/svg+xml", "no-store", "default-src 'none'; frame-ancestors 'none'",
		`inline; filename="table-` + decimal(t.ID) + `.svg"`,
		c.svg(),
	}, nil
}
