//! YAML within a budget.

use prowess_format::yaml::{Node, NodeKind, YamlBudget, YamlError, parse};

/// A budget that real frontmatter would exceed.
const SMALL: YamlBudget = YamlBudget { depth: 4, nodes: 16, aliases: 2 };

/// Checks that nothing panics, that every node is inside the text, that the budget is respected, and that a smaller budget
/// results in the same tree or an error.
pub fn yaml(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let parsed = parse(text, YamlBudget::DEFAULT);
    match &parsed {
        Ok(Some(node)) => check_nodes(node, text, YamlBudget::DEFAULT),
        Ok(None) => {}
        Err(error) => assert!(error.offset() <= text.len(), "{error:?} in {} bytes", text.len()),
    }
    match parse(text, SMALL) {
        Ok(small) => {
            if let Some(node) = &small {
                check_nodes(node, text, SMALL);
            }
            assert_eq!(Ok(small), parsed, "a small budget");
        }
        Err(YamlError::Limit { .. }) => {}
        Err(error) => assert_eq!(Err(error), parsed, "a small budget"),
    }
}

fn check_nodes(root: &Node<'_>, text: &str, budget: YamlBudget) {
    let mut nodes = 0;
    let mut open = vec![(root, 1)];
    while let Some((node, depth)) = open.pop() {
        nodes += 1;
        assert!(node.span.start <= node.span.end, "{node:?}");
        assert!(node.span.end as usize <= text.len(), "{node:?} in {} bytes", text.len());
        match &node.kind {
            NodeKind::Scalar(..) => continue,
            NodeKind::List(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            NodeKind::Map(entries) => {
                open.extend(entries.iter().flat_map(|(key, value)| [(key, depth + 1), (value, depth + 1)]));
            }
        }
        assert!(depth <= budget.depth, "nesting of {depth}");
    }
    assert!(nodes <= budget.nodes, "{nodes} nodes");
    let _ = (root.value(), root.describe());
}
