SELECT s.id, s.sku FROM stock_item s JOIN @rows($1: item int) AS r ON s.id = r.item
