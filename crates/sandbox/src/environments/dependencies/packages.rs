//! Which package provides a module.
//!
//! Only well-known packages are listed. A name that is not in the table is unknown: installing a package because it has
//! the same name as a module would let anyone who registers that name provide the code.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Packages whose module has another name, as `MODULE=PACKAGE`. Modules of namespace packages have several components.
const RENAMED: &str = "\
    Bio=biopython Crypto=pycryptodome Cryptodome=pycryptodomex Levenshtein=python-Levenshtein MySQLdb=mysqlclient \
    OpenGL=PyOpenGL OpenSSL=pyOpenSSL PIL=Pillow PyQt5=PyQt5 PyQt6=PyQt6 Xlib=python-xlib yaml=PyYAML \
    absl=absl-py apscheduler=APScheduler attr=attrs attrs=attrs bidi=python-bidi bs4=beautifulsoup4 bson=pymongo \
    cairo=pycairo cairosvg=CairoSVG cpuinfo=py-cpuinfo cv2=opencv-python-headless dateutil=python-dateutil \
    decouple=python-decouple deep_translator=deep-translator discord=discord.py distutils=setuptools dns=dnspython \
    docx=python-docx docxcompose=docxcompose docxtpl=docxtpl dotenv=python-dotenv ebooklib=EbookLib edge_tts=edge-tts \
    email_validator=email-validator engineio=python-engineio exifread=ExifRead extract_msg=extract-msg \
    faiss=faiss-cpu fake_useragent=fake-useragent faster_whisper=faster-whisper ffmpeg=ffmpeg-python fitz=PyMuPDF \
    flask=Flask flask_cors=Flask-Cors flask_login=Flask-Login flask_sqlalchemy=Flask-SQLAlchemy \
    flask_socketio=Flask-SocketIO flask_wtf=Flask-WTF fontTools=fonttools frontmatter=python-frontmatter \
    geopandas=geopandas git=GitPython github=PyGithub gitlab=python-gitlab googleapiclient=google-api-python-client \
    google_auth_httplib2=google-auth-httplib2 google_auth_oauthlib=google-auth-oauthlib googlesearch=googlesearch-python \
    grpc=grpcio grpc_tools=grpcio-tools hnswlib=hnswlib html2image=html2image huggingface_hub=huggingface-hub \
    imagehash=ImageHash imap_tools=imap-tools imblearn=imbalanced-learn isoweek=isoweek jinja2=Jinja2 jose=python-jose \
    jpype=JPype1 jwt=PyJWT kafka=kafka-python keras_preprocessing=Keras-Preprocessing kubernetes=kubernetes \
    langchain_anthropic=langchain-anthropic langchain_community=langchain-community langchain_core=langchain-core \
    langchain_openai=langchain-openai langchain_text_splitters=langchain-text-splitters ldap3=ldap3 \
    llama_cpp=llama-cpp-python llama_index=llama-index magic=python-magic markdown=Markdown markdown_it=markdown-it-py \
    markupsafe=MarkupSafe mdit_py_plugins=mdit-py-plugins more_itertools=more-itertools mpl_toolkits=matplotlib \
    msoffcrypto=msoffcrypto-tool mysql=mysql-connector-python nacl=PyNaCl newspaper=newspaper3k notion_client=notion-client \
    odf=odfpy OpenImageIO=OpenImageIO paho=paho-mqtt parsedatetime=parsedatetime pdfminer=pdfminer.six pdfrw=pdfrw \
    peewee_migrate=peewee-migrate phonenumbers=phonenumbers pkg_resources=setuptools playwright=playwright \
    plotly=plotly poppler=python-poppler pptx=python-pptx prompt_toolkit=prompt-toolkit psycopg2=psycopg2-binary \
    pwdlib=pwdlib py7zr=py7zr pyarrow=pyarrow pycountry=pycountry pydantic_settings=pydantic-settings \
    pygments=Pygments pylab=matplotlib pymupdf=PyMuPDF pymupdf4llm=pymupdf4llm pymysql=PyMySQL pypandoc=pypandoc pyperclip=pyperclip \
    pytest_asyncio=pytest-asyncio pywt=PyWavelets pyzbar=pyzbar rapidfuzz=rapidfuzz rarfile=rarfile \
    readability=readability-lxml rest_framework=djangorestframework ruamel=ruamel.yaml ruamel.yaml=ruamel.yaml \
    sendgrid=sendgrid sentence_transformers=sentence-transformers sentry_sdk=sentry-sdk serial=pyserial \
    shapefile=pyshp simple_salesforce=simple-salesforce skimage=scikit-image sklearn=scikit-learn slack_bolt=slack-bolt \
    slack_sdk=slack-sdk slugify=python-slugify snappy=python-snappy snowflake=snowflake-connector-python socketio=python-socketio \
    socks=PySocks sounddevice=sounddevice soundfile=soundfile speech_recognition=SpeechRecognition sqlalchemy=SQLAlchemy \
    statsmodels=statsmodels stdnum=python-stdnum svgpathtools=svgpathtools svglib=svglib telegram=python-telegram-bot \
    tensorflow_hub=tensorflow-hub tlsh=py-tlsh toml=toml typing_extensions=typing-extensions tzlocal=tzlocal \
    usb=pyusb uvicorn=uvicorn validators=validators vobject=vobject vtk=vtk webcolors=webcolors websocket=websocket-client \
    weasyprint=weasyprint werkzeug=Werkzeug whisper=openai-whisper wikipediaapi=Wikipedia-API \
    wordcloud=wordcloud wx=wxPython xlsxwriter=XlsxWriter yaml_include=pyyaml-include youtube_dl=youtube-dl \
    youtube_transcript_api=youtube-transcript-api yt_dlp=yt-dlp vcr=vcrpy linkify_it=linkify-it-py zmq=pyzmq zoneinfo=backports.zoneinfo \
    google.ads=google-ads google.ai.generativelanguage=google-ai-generativelanguage google.api_core=google-api-core \
    google.auth=google-auth google.cloud.aiplatform=google-cloud-aiplatform google.cloud.bigquery=google-cloud-bigquery \
    google.cloud.documentai=google-cloud-documentai google.cloud.firestore=google-cloud-firestore \
    google.cloud.logging=google-cloud-logging google.cloud.monitoring_v3=google-cloud-monitoring \
    google.cloud.pubsub=google-cloud-pubsub google.cloud.pubsub_v1=google-cloud-pubsub \
    google.cloud.secretmanager=google-cloud-secret-manager google.cloud.speech=google-cloud-speech \
    google.cloud.storage=google-cloud-storage google.cloud.texttospeech=google-cloud-texttospeech \
    google.cloud.translate=google-cloud-translate google.cloud.translate_v2=google-cloud-translate \
    google.cloud.vision=google-cloud-vision google.genai=google-genai google.generativeai=google-generativeai \
    google.oauth2=google-auth google.protobuf=protobuf google.resumable_media=google-resumable-media \
    azure.ai.documentintelligence=azure-ai-documentintelligence azure.ai.formrecognizer=azure-ai-formrecognizer \
    azure.ai.inference=azure-ai-inference azure.ai.projects=azure-ai-projects azure.ai.textanalytics=azure-ai-textanalytics \
    azure.core=azure-core azure.cosmos=azure-cosmos azure.data.tables=azure-data-tables azure.devops=azure-devops \
    azure.functions=azure-functions azure.identity=azure-identity azure.keyvault.keys=azure-keyvault-keys \
    azure.keyvault.secrets=azure-keyvault-secrets azure.mgmt.compute=azure-mgmt-compute \
    azure.mgmt.network=azure-mgmt-network azure.mgmt.resource=azure-mgmt-resource azure.mgmt.storage=azure-mgmt-storage \
    azure.monitor.query=azure-monitor-query azure.search.documents=azure-search-documents \
    azure.servicebus=azure-servicebus azure.storage.blob=azure-storage-blob \
    azure.storage.filedatalake=azure-storage-file-datalake azure.storage.queue=azure-storage-queue \
    opentelemetry=opentelemetry-api opentelemetry.sdk=opentelemetry-sdk opentelemetry.exporter.otlp=opentelemetry-exporter-otlp \
    zope.interface=zope.interface";

/// Packages whose module has the same name.
const SAME_NAME: &str = "\
    accelerate aiofiles aiohttp aiosqlite alembic altair annotated_types ansible anthropic anyio argcomplete arrow arxiv \
    asgiref astropy asyncpg asyncssh audioread authlib autopep8 av babel backoff bandit bcrypt beartype billiard \
    black bleach blinker blosc2 bokeh boltons boto boto3 botocore bottle braintree brotli cachetools \
    camelot casadi cassandra catboost cattrs celery cerberus certifi cffi chardet charset_normalizer chevron chromadb \
    chompjs cirq clevercsv click clickhouse_connect cloudpickle cloudscraper cmarkgfm codespell cohere colorama colorcet \
    coloredlogs colorlog colorthief colour commonmark confluent_kafka construct contourpy coverage croniter cryptography \
    css_inline cssselect cssselect2 cssutils curl_cffi cvxpy cycler cytoolz dash dask databases databricks datasets dateparser \
    debugpy deepdiff deepl deepmerge defusedxml deprecated diagrams dicttoxml diffusers dill diskcache distro django \
    docker docling docopt docutils dominate duckdb duckduckgo_search dulwich ecdsa einops elasticsearch email_reply_parser emoji \
    emcee et_xmlfile eth_account evaluate execnet executing extruct fabric faker fastapi fastavro fastcore fastmcp fasttext \
    feedgen feedparser filelock filetype fiona firebase_admin flake8 flashtext flatbuffers flax folium fpdf frozendict \
    frozenlist fsspec ftfy future fuzzywuzzy gdown genanki gensim geocoder geographiclib geopy gevent ghapi gitdb gradio \
    graphql graphviz greenlet groq gspread gtts gunicorn h11 h2 h3 h5py haversine holidays hpack html2text html5lib httplib2 \
    httptools httpx httpx_sse humanfriendly humanize hydra hypercorn hyperlink hypothesis icalendar icecream identify idna \
    igraph ijson imageio imageio_ffmpeg imagesize impacket inflect inflection iniconfig inquirer instructor invoke ipwhois \
    ipykernel ipywidgets isodate isort itsdangerous jax jaxlib jedi jellyfish jieba jiter jmespath joblib json5 jsondiff \
    jsonlines jsonpatch jsonpath_ng jsonpickle jsonpointer jsonref jsonschema jupytext kaleido keyring kiwisolver \
    kombu langchain langdetect langfuse langgraph langid langsmith lark lazy_loader libcst librosa lightgbm limits litellm \
    llvmlite locust loguru lunardate lxml lz4 mako mammoth manim manimlib mapbox marimo markdown2 markdownify markitdown \
    marshmallow mashumaro matplotlib mcp mdformat mdurl mistralai mistune mizani mkdocs ml_dtypes mlflow mlxtend mne mock \
    moderngl monai moto moviepy mpmath msal msgpack msgspec multidict multipledispatch mutagen mypy nbconvert nbformat \
    ndjson nest_asyncio netCDF4 netaddr networkx neo4j nibabel nicegui nltk notebook nox num2words numba numexpr numpy numpy_financial oauthlib \
    ocrmypdf olefile ollama onnx onnxruntime openai openpyxl opensearchpy optree optuna oracledb orjson osmnx outlines oyaml \
    packaging palettable pandas pandera pandoc panel papermill param paramiko parse parsel parso passlib patsy pathspec \
    pdf2docx pdf2image pdfkit pdfplumber peewee peft pendulum pexpect pgvector pikepdf pinecone pint pip platformdirs plotext \
    plotnine plumbum pluggy pm4py podcastparser polars polib pooch portalocker pptx2md pre_commit premailer prefect presidio_analyzer \
    prettytable prisma progressbar prometheus_client prophet propcache psutil psycopg ptpython pudb pulp pulumi puremagic \
    py2neo pyaes pyasn1 pyautogui pybind11 pycparser pydantic pydantic_ai pydantic_core pydeck pydot pydub pydyf pyecharts \
    pyfiglet pygal pygame pygit2 pyinstrument pykakasi pylint pymatgen pymongo pymorphy3 pynput pyparsing pypdf PyPDF2 PyPDF4 \
    pypdfium2 pyphen pypinyin pyppeteer pyproj pyrogram pyrsistent pyscreeze pyshark pysrt pystache pytesseract pytest \
    pythainlp pytz pyvis pyvista pyxlsb qdrant_client qrcode quart questionary ratelimit rasterio ray rdkit rdflib redis \
    regex replicate reportlab requests requests_cache requests_html requests_oauthlib requests_toolbelt resend respx rembg rfc3339_validator rich \
    rpds rsa ruff s3fs s3transfer sacrebleu safetensors sanic scapy schedule schema scipy scrapy scrapling seaborn segno \
    selectolax selenium selenium_stealth semver sentencepiece setuptools shap shapely shellingham shortuuid simplejson simpy six \
    skops smart_open smmap sniffio snowballstemmer snscrape sortedcontainers soupsieve spacy sphinx splunklib sqlfluff \
    sqlglot sqlite_utils sqlmodel sqlparse srsly srt sse_starlette stanza starlette statsd strawberry streamlit stripe structlog \
    supabase surya svgwrite sympy tabula tabulate tavily tenacity tensorboard tensorflow termcolor textblob textdistance \
    textstat textual tiktoken thefuzz thinc threadpoolctl tifffile tika timm tinycss2 tinydb tldextract together tokenizers tomli tomli_w \
    tomlkit toolz torch torchaudio torchvision tornado tox tqdm trafilatura traitlets transformers translate trio trimesh \
    tweepy twilio typeguard typer typst tzdata ujson umap unidecode unstructured uncertainties urllib3 uvloop vaderSentiment vega_datasets \
    virtualenv voluptuous waitress wand watchdog watchfiles wcwidth weaviate webencodings websockets wheel wikipedia \
    wrapt xarray xgboost xhtml2pdf xlrd xlutils xlwings xlwt xmlschema xmltodict xmlsec xxhash yagmail yarl yfinance z3 zeep zstandard";

/// Modules of [`SAME_NAME`] whose package is written with another separator or case are installed under the same name:
/// package names ignore case, and treat `_`, `-` and `.` alike.
fn table() -> &'static HashMap<&'static str, &'static str> {
    static TABLE: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let renamed = RENAMED.split_ascii_whitespace().filter_map(|entry| entry.split_once('='));
        let same = SAME_NAME.split_ascii_whitespace().map(|name| (name, same_name_package(name)));
        same.chain(renamed).collect()
    })
}

/// Returns the package of a module that shares its name, for the few that differ by more than a separator.
fn same_name_package(module: &'static str) -> &'static str {
    match module {
        "camelot" => "camelot-py",
        "cassandra" => "cassandra-driver",
        "databricks" => "databricks-sdk",
        "fpdf" => "fpdf2",
        "graphql" => "graphql-core",
        "gtts" => "gTTS",
        "hydra" => "hydra-core",
        "opensearchpy" => "opensearch-py",
        "progressbar" => "progressbar2",
        "rpds" => "rpds-py",
        "sphinx" => "Sphinx",
        "splunklib" => "splunk-sdk",
        "strawberry" => "strawberry-graphql",
        "surya" => "surya-ocr",
        "tabula" => "tabula-py",
        "tavily" => "tavily-python",
        "umap" => "umap-learn",
        "wand" => "Wand",
        "weaviate" => "weaviate-client",
        "z3" => "z3-solver",
        module => module,
    }
}

/// Namespace packages: their first component alone says nothing.
const NAMESPACES: &[&str] = &["google", "azure", "zope", "backports"];

/// Returns the package that provides a module, and the part of the module's name that belongs to the package.
pub(super) fn package_of(module: &[&str]) -> Option<(&'static str, String)> {
    (1..=module.len().min(4)).rev().find_map(|length| {
        let name = module[..length].join(".");
        Some((*table().get(name.as_str())?, name))
    })
}

/// Returns `true` if the first component of a module is shared by many packages.
pub(super) fn is_namespace(module: &str) -> bool {
    NAMESPACES.contains(&module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_modules_have_their_package() {
        let package = |module: &str| {
            package_of(&module.split('.').collect::<Vec<_>>())
                .map(|(package, _)| package)
                .unwrap_or("unknown")
        };
        for (module, expected) in [
            ("PIL.Image", "Pillow"),
            ("docx", "python-docx"),
            ("pptx.util", "python-pptx"),
            ("yaml", "PyYAML"),
            ("cv2", "opencv-python-headless"),
            ("bs4", "beautifulsoup4"),
            ("sklearn.svm", "scikit-learn"),
            ("fitz", "PyMuPDF"),
            ("google.cloud.storage.blob", "google-cloud-storage"),
            ("google.genai", "google-genai"),
            ("google", "unknown"),
            ("google.unknown", "unknown"),
            ("azure.storage.blob", "azure-storage-blob"),
            ("mpl_toolkits.mplot3d", "matplotlib"),
            ("openpyxl.styles", "openpyxl"),
            ("requets", "unknown"),
        ] {
            assert_eq!(package(module), expected, "{module}");
        }
    }

    #[test]
    fn every_entry_is_a_valid_name() {
        assert!(table().len() > 600, "{}", table().len());
        for (module, package) in table() {
            assert!(super::super::Requirement::parse(package).is_ok(), "{package}");
            assert!(module.split('.').all(|part| !part.is_empty()), "{module}");
        }
        let same: Vec<_> = SAME_NAME.split_ascii_whitespace().collect();
        let distinct: std::collections::HashSet<_> = same.iter().collect();
        assert_eq!(same.len(), distinct.len(), "duplicate entries");
    }
}
