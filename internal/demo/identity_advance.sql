-- PostgreSQL does not count ids that were given; SQLite does.
SELECT 1
/*pg: , setval(pg_get_serial_sequence('branch', 'id'), (SELECT MAX(id) FROM branch)),
  setval(pg_get_serial_sequence('category', 'id'), (SELECT MAX(id) FROM category)),
  setval(pg_get_serial_sequence('dish', 'id'), (SELECT MAX(id) FROM dish)),
  setval(pg_get_serial_sequence('menu', 'id'), (SELECT MAX(id) FROM menu)),
  setval(pg_get_serial_sequence('menu_item', 'id'), (SELECT MAX(id) FROM menu_item)),
  setval(pg_get_serial_sequence('menu_version', 'id'), (SELECT MAX(id) FROM menu_version)),
  setval(pg_get_serial_sequence('stock_item', 'id'), (SELECT MAX(id) FROM stock_item)),
  setval(pg_get_serial_sequence('dining_table', 'id'), (SELECT MAX(id) FROM dining_table)) */
